// A library that is no valid backend. Its defect is the name of its file: CMakeLists.txt makes a
// copy for each.
#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/plugin.h"
#include "chainerx/kernels/strided/memory.h"

namespace {

using chainerx::PluginInfo;
namespace internal = chainerx::internal;

bool Has(const char* defect) {
    static const int here = 0;
    Dl_info library;
    dladdr(&here, &library);
    return std::filesystem::path{library.dli_fname}.stem() == defect;
}

chainerx::Backend* Create(chainerx::Context&) {
    if (Has("throwing")) throw chainerx::BackendError{"no such hardware"};
    return nullptr;
}

PluginInfo MakeInfo() {
    static std::vector<chainerx::LayoutInfo> layouts{internal::LayoutAccess::All().begin(),
                                                     internal::LayoutAccess::All().end()};
    const internal::KernelUse* uses = nullptr;
    if (Has("wrong_layout")) layouts[0].hash += 1;
    if (Has("lacks_layout")) layouts.pop_back();
    if (Has("unknown_kernel")) {
        static constexpr chainerx::KernelInfo gone{"Forgotten", "memory", 0, 1, nullptr, 0};
        static const internal::KernelUse use{&gone, internal::FindKernel(gone), nullptr};
        uses = &use;
    }
    const uint32_t contract = chainerx::kPluginContract + (Has("wrong_contract") ? 1 : 0);
    return {contract, static_cast<uint32_t>(layouts.size()), layouts.data(), uses, &Create};
}

}  // namespace

extern "C" CX_API const PluginInfo* ChainerxPlugin() {
    if (Has("no_info")) return nullptr;
    static const PluginInfo info = MakeInfo();
    return &info;
}
