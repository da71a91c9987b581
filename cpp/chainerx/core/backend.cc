#include "chainerx/core/backend.h"

#include <cstdlib>
#include <string>

#include "chainerx/core/error.h"

namespace chainerx {

Backend::Backend(Context& context, std::string name, const KernelFn* kernels)
    : context_{context},
      name_{std::move(name)},
      kernels_{kernels != nullptr ? kernels : internal::kNoKernels} {}

Backend::~Backend() = default;

Device& Backend::GetDevice(int index) {
    const int count = GetDeviceCount();
    if (index < 0 || index >= count) {
        std::string text = StrCat("device index ", index, " is out of range: backend '", name_,
                                  "' has ", count, count == 1 ? " device" : " devices");
        const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
        if (name_ == "cuda" && visible != nullptr) {
            text += StrCat("; CUDA_VISIBLE_DEVICES is '", visible,
                           "', and GPUs that it does not name are hidden");
        }
        throw IndexError{text};
    }
    const auto find = [&] {
        return devices_.Find([&](const Device& d) { return d.index() == index; });
    };
    if (Device* made = find()) return *made;
    const std::lock_guard lock{internal::CreationMutex()};
    if (Device* made = find()) return *made;  // another thread has made it meanwhile
    std::unique_ptr<Device> device = CreateDevice(index);
    if (device == nullptr || device->index() != index) {
        throw BackendError{"backend '",          name_,
                           "' makes ",           device == nullptr ? "no" : "another",
                           " device for index ", index};
    }
    return devices_.Add(std::move(device));
}

void Backend::Retire() noexcept {
    devices_.ForEach([](Device& device) { device.Retire(); });
    OnRetired();
}

}  // namespace chainerx
