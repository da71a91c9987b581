#include "chainerx/core/backend.h"

#include "chainerx/core/error.h"

namespace chainerx {

Backend::Backend(Context& context, std::string name, const KernelFn* kernels)
    : context_{context}, name_{std::move(name)}, kernels_{kernels} {}

Backend::~Backend() = default;

Device& Backend::GetDevice(int index) {
    const int count = GetDeviceCount();
    if (index < 0 || index >= count) {
        throw IndexError{"device index ", index, " is out of range: backend '",      name_,
                         "' has ",        count, count == 1 ? " device" : " devices"};
    }
    const std::lock_guard lock{mutex_};
    if (devices_.empty()) devices_.resize(static_cast<size_t>(count));
    std::unique_ptr<Device>& device = devices_[static_cast<size_t>(index)];
    if (device == nullptr) device = CreateDevice(index);
    return *device;
}

void Backend::Retire() noexcept {
    {
        const std::lock_guard lock{mutex_};
        for (const std::unique_ptr<Device>& device : devices_) {
            if (device != nullptr) device->Retire();
        }
    }
    OnRetired();
}

}  // namespace chainerx
