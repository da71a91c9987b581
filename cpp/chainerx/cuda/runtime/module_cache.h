// Kernels that a device has loaded.
#pragma once

#include <string>
#include <unordered_map>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

class ModuleCache {
 public:
    // Compiles and loads the kernel if it is not there yet. The device's context is current.
    CUfunction Load(const DeviceSource& source, int arch);

 private:
    internal::ForkMutex mutex_;
    std::unordered_map<std::string, CUfunction> functions_;  // by all of the source
};

}  // namespace chainerx::cuda
