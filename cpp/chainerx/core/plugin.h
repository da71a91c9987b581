// Backends in shared libraries of their own, found by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Opens <folder>/<name>.so, or lib<name>.so, where folder is $CHAINERX_PATH/backends,
// $HOME/.chainerx/backends, or the one of this library; checks the ABI; calls CreateBackend.
// BackendError lists every path tried, or what is wrong with the library.
std::unique_ptr<Backend> LoadBackendPlugin(Context& context, const std::string& name);

// Called once at load by the unit that knows the kernel list (kernels/abi.cc).
void SetAbiHash(uint64_t (*hash)());

}  // namespace chainerx::internal
