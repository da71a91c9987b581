// A device: where buffers live and which kernels compute on them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "chainerx/core/buffer.h"
#include "chainerx/core/macro.h"

namespace chainerx {

class Backend;
class Context;

// A kernel with its signature erased; kernels/kernel.h restores it.
using KernelFn = void (*)();

// A table of kernels has a range of ids for each family, so that a kernel more in one moves none in
// another.
inline constexpr int kKernelsPerFamily = 64;
inline constexpr int kMaxKernelFamilies = 32;
inline constexpr int kKernelTableSize = kKernelsPerFamily * kMaxKernelFamilies;

class Device;

namespace internal {
// Whether the devices show a table of nulls instead of their kernels, those to come too. For
// kernels/hook.h.
CX_API void HideKernels(bool hidden);
}  // namespace internal

class CX_API Device {
 public:
    Device(Backend* backend, int index);
    virtual ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    Backend* backend() const { return backend_; }
    Context* context() const { return context_; }
    int index() const { return index_; }
    const std::string& name() const { return name_; }  // "native:0"
    // By kernel id. Those of the backend, or nulls while hooks are installed (kernels/hook.h).
    const KernelFn* kernels() const { return kernels_.load(std::memory_order_relaxed); }

    // Uninitialized memory, aligned to 64 bytes, owned by the caller (one reference). Any nbytes
    // >= 0. Throws OutOfMemoryError.
    virtual Buffer* Allocate(int64_t nbytes) = 0;

    // Whether the host reads and writes the buffers of this device through plain pointers.
    virtual bool IsHostAccessible() const { return false; }

    // Host memory <-> memory of this device; returns when the host memory may be reused.
    virtual void CopyFromHost(void* dst, const void* src, int64_t nbytes) = 0;
    virtual void CopyToHost(void* dst, const void* src, int64_t nbytes) = 0;

    // Between two devices of one backend; the default goes through host memory.
    virtual void CopyFromPeer(void* dst, Device& src_device, const void* src, int64_t nbytes);

    // Waits for all kernels launched so far.
    virtual void Synchronize() {}

    // ContextError in the name of `op` if the context of the device has been destroyed.
    void CheckAlive(const char* op) const;

 private:
    friend class Backend;
    friend void internal::HideKernels(bool hidden);

    // Its context goes: from now on it computes nothing.
    void Retire();

    Backend* backend_;
    Context* context_;
    std::atomic<const KernelFn*> kernels_;
    int index_;
    std::string name_;
};

// Thread-local; the first native device until set.
CX_API Device& GetDefaultDevice();
// nullptr unsets. ContextError when the device is of another context than the default one.
CX_API void SetDefaultDevice(Device* device);

class CX_API DeviceScope {
 public:
    explicit DeviceScope(Device& device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

 private:
    Device* saved_;
};

// DeviceError naming op and both devices.
CX_API CX_COLD void ThrowDeviceMismatch(const char* op, const Device& d1, const Device& d2);

inline void CheckSameDevice(const char* op, const Device& d1, const Device& d2) {
    if (&d1 != &d2) [[unlikely]]
        ThrowDeviceMismatch(op, d1, d2);
}

}  // namespace chainerx
