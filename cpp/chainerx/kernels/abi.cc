#include "chainerx/core/plugin.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::internal {

namespace {
const bool kRegistered = [] {
    SetAbiHash([]() { return kAbiHash; });
    return true;
}();
}  // namespace

void ThrowNoKernel(const char* kernel, const Device& device) {
    throw ChainerxError{
        "kernel ",     kernel, " is not there on backend '", device.backend()->name(), "' (device ",
        device.name(), ")"};
}

}  // namespace chainerx::internal
