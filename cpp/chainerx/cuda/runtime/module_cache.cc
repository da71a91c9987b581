#include "chainerx/cuda/runtime/module_cache.h"

#include <mutex>

#include "chainerx/cuda/driver/driver.h"

namespace chainerx::cuda {

// Under the lock: if two threads want the same kernel, one waits for the other.
CUfunction ModuleCache::Load(const DeviceSource& source, int arch) {
    const std::lock_guard lock{mutex_};
    std::string key = source.text;
    if (source.custom) {
        key += '\0' + source.kernel;
        for (const std::string& option : *source.custom) key += '\0' + option;
    }
    CUfunction& function = functions_[key];
    if (function != nullptr) return function;
    const std::string code = CompileForArch(source, arch);
    CUmodule module = nullptr;
    CX_CU(ModuleLoadData, &module, code.data());
    CX_CU(ModuleGetFunction, &function, module, source.kernel.c_str());
    return function;
}

}  // namespace chainerx::cuda
