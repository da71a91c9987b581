#include "chainerx/core/device.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

using internal::t_state;

namespace {

// All devices of the process, and whether their kernels are hidden.
struct Devices {
    internal::ForkMutex mutex;
    std::vector<Device*> all;
    bool hidden{false};
};

constinit internal::Lazy<Devices> g_devices;  // contexts may outlive every static

}  // namespace

// Errors that kernels have reported, and no thread has received yet.
struct Device::Reports {
    struct Report {
        uint64_t thread;
        std::exception_ptr error;
    };
    std::vector<Report> list;
    std::atomic<bool> any{false};

    Reports() { list.reserve(16); }

    // One mutex for all devices, which outlives them: it is used only after an error.
    static internal::ForkMutex& Mutex() {
        static constinit internal::ForkMutex mutex;
        return mutex;
    }
};

Device::Device(Backend* backend, int index)
    : backend_{backend},
      context_{&backend->context()},
      kernels_{backend->kernels()},
      index_{index},
      reports_{std::make_unique<Reports>()},
      name_{StrCat(backend->name(), ":", index)} {
    Devices& devices = g_devices.Get();
    const std::lock_guard lock{devices.mutex};
    devices.all.push_back(this);
    if (devices.hidden) kernels_ = internal::kNoKernels;
}

Device::~Device() {
    const std::lock_guard lock{g_devices.Get().mutex};
    std::erase(g_devices.Get().all, this);
}

const KernelFn internal::kNoKernels[kKernelTableSize]{};

void internal::HideKernels(bool hidden) {
    Devices& devices = g_devices.Get();
    const std::lock_guard lock{devices.mutex};
    devices.hidden = hidden;
    for (Device* device : devices.all) {
        const bool retired = device->context_ == &Context::Destroyed();
        device->kernels_ = hidden || retired ? internal::kNoKernels : device->backend()->kernels();
    }
}

void Device::Retire() {
    const std::lock_guard lock{g_devices.Get().mutex};
    context_ = &Context::Destroyed();
    kernels_ = internal::kNoKernels;
}

void Device::CheckAlive(const char* op) const {
    if (context_ != &Context::Destroyed()) return;
    throw ContextError{op, ": the context of device ", name_,
                       " has been destroyed; arrays may not outlive it"};
}

void Device::CopyFromPeer(const Array& src, const Array& dst) {
    const int64_t nbytes = src.GetNBytes();
    const std::unique_ptr<char[]> host{new char[static_cast<size_t>(nbytes)]};
    src.device().CopyToHost(host.get(), src.raw_data(), nbytes);
    CopyFromHost(dst.raw_data(), host.get(), nbytes);
}

Stream& Device::NewStream() { throw NotImplementedError{"device ", name_, " has no streams"}; }

MemoryStats Device::ReadMemoryStats() {
    throw NotImplementedError{"memory_stats: device ", name_, " does not count its memory"};
}

void Device::ResetMemoryPeaks() {
    throw NotImplementedError{"reset_peak_memory_stats: device ", name_,
                              " does not count its memory"};
}

void Device::CopyToHost(void* dst, const void* src, int64_t nbytes) {
    internal::CheckMayRead("a value is read");
    if (default_stream_ == nullptr) {
        ReadToHost(dst, src, nbytes);
    } else {
        CheckAlive("copy_to_host");
        internal::TellHostAccess(*this, HostAccess::kRead, nbytes);
        const internal::BlockingScope blocking;
        ReadToHost(dst, src, nbytes);
    }
    ThrowReported();
}

void Device::Synchronize() {
    internal::CheckMayRead("synchronize");
    if (default_stream_ != nullptr) {
        CheckAlive("synchronize");
        internal::TellHostAccess(*this, HostAccess::kWait, 0);
        const internal::BlockingScope blocking;
        Wait(nullptr);
    }
    ThrowReported();
}

void Device::Synchronize(Stream& stream) {
    internal::CheckMayRead("synchronize");
    if (&stream.device() != this) {
        throw DeviceError{"synchronize: the stream is of device ", stream.device().name(),
                          ", not of ", name_};
    }
    CheckAlive("synchronize");
    internal::TellHostAccess(*this, HostAccess::kWait, 0);
    {
        const internal::BlockingScope blocking;
        Wait(&stream);
    }
    ThrowReported();
}

void Device::Report(const KernelError& error) noexcept {
    if (error.kind == KernelError::Kind::kNone) return;
    std::exception_ptr e;
    try {
        e = std::make_exception_ptr(KernelCheckError{error});
    } catch (...) {  // no memory for the message
        e = std::current_exception();
    }
    Report(error.thread, std::move(e));
}

void Device::Report(uint64_t thread, std::exception_ptr error) noexcept {
    const std::lock_guard lock{Reports::Mutex()};
    // Later errors of a thread may well be consequences of the first.
    for (const Reports::Report& r : reports_->list) {
        if (r.thread == thread) return;
    }
    try {
        reports_->list.push_back({thread, error});
    } catch (...) {  // the list has reserved memory
        reports_->list.back() = {thread, error};
    }
    reports_->any = true;
}

void Device::ThrowReported() {
    if (!reports_->any) return;
    std::exception_ptr error;
    {
        const uint64_t self = internal::GetThreadToken();
        const std::lock_guard lock{Reports::Mutex()};
        std::vector<Reports::Report>& list = reports_->list;
        auto it = std::find_if(list.begin(), list.end(),
                               [&](const Reports::Report& r) { return r.thread == self; });
        if (it == list.end()) {
            it = std::find_if(list.begin(), list.end(), [](const Reports::Report& r) {
                return !internal::IsThreadAlive(r.thread);
            });
        }
        if (it == list.end()) return;
        error = std::move(it->error);
        list.erase(it);
        reports_->any = !list.empty();
    }
    std::rethrow_exception(error);
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
    if (d1.context() != d2.context()) {
        throw DeviceError{op,        ": operands are on devices of different contexts, ",
                          d1.name(), " and ",
                          d2.name(), "; make a copy with the other's device"};
    }
    throw DeviceError{op,        ": operands are on different devices, ",
                      d1.name(), " and ",
                      d2.name(), "; move one with to_device()"};
}

}  // namespace chainerx
