#include "chainerx/core/device.h"

#include <memory>
#include <mutex>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

using internal::t_state;

namespace {

constexpr KernelFn kNoKernels[kKernelTableSize]{};

// All devices of the process, and whether their kernels are hidden.
struct Devices {
    internal::ForkMutex mutex;
    std::vector<Device*> all;
    bool hidden{false};
};

// Never destroyed: contexts may outlive every static.
Devices& GetDevices() {
    static auto* const devices = new Devices;
    return *devices;
}

}  // namespace

Device::Device(Backend* backend, int index)
    : backend_{backend},
      context_{&backend->context()},
      kernels_{backend->kernels()},
      index_{index},
      name_{StrCat(backend->name(), ":", index)} {
    Devices& devices = GetDevices();
    const std::lock_guard lock{devices.mutex};
    devices.all.push_back(this);
    if (devices.hidden) kernels_ = kNoKernels;
}

Device::~Device() {
    const std::lock_guard lock{GetDevices().mutex};
    std::erase(GetDevices().all, this);
}

void internal::HideKernels(bool hidden) {
    Devices& devices = GetDevices();
    const std::lock_guard lock{devices.mutex};
    devices.hidden = hidden;
    for (Device* device : devices.all) {
        const bool retired = device->context_ == &Context::Destroyed();
        device->kernels_ = hidden || retired ? kNoKernels : device->backend()->kernels();
    }
}

void Device::Retire() {
    const std::lock_guard lock{GetDevices().mutex};
    context_ = &Context::Destroyed();
    kernels_ = kNoKernels;
}

void Device::CheckAlive(const char* op) const {
    if (context_ != &Context::Destroyed()) return;
    throw ContextError{op, ": the context of device ", name_,
                       " has been destroyed; arrays may not outlive it"};
}

void Device::CopyFromPeer(void* dst, Device& src_device, const void* src, int64_t nbytes) {
    const std::unique_ptr<char[]> host{new char[static_cast<size_t>(nbytes)]};
    src_device.CopyToHost(host.get(), src, nbytes);
    CopyFromHost(dst, host.get(), nbytes);
}

Device& GetDefaultDevice() {
    if (t_state.default_device == nullptr ||
        t_state.default_device->context() == &Context::Destroyed()) {
        t_state.default_device = &GetDefaultContext().GetNativeBackend().GetDevice(0);
    }
    return *t_state.default_device;
}

void SetDefaultDevice(Device* device) {
    if (device != nullptr && device->context() != &GetDefaultContext()) {
        throw ContextError{"set_default_device: device ", device->name(),
                           " is not of the default context"};
    }
    t_state.default_device = device;
}

DeviceScope::DeviceScope(Device& device) : saved_{t_state.default_device} {
    SetDefaultDevice(&device);
}

DeviceScope::~DeviceScope() { t_state.default_device = saved_; }

void ThrowDeviceMismatch(const char* op, const Device& d1, const Device& d2) {
    throw DeviceError{op,        ": operands are on different devices, ",
                      d1.name(), " and ",
                      d2.name(), "; move one with to_device()"};
}

}  // namespace chainerx
