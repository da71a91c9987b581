// A device: where buffers live and which kernels compute on them.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "chainerx/core/buffer.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/memory_stats.h"

namespace chainerx {

class Backend;
class Context;
class Stream;
struct KernelError;

// A kernel with its signature erased; kernels/kernel.h restores it.
using KernelFn = void (*)();

// A table of kernels has a range of ids for each family, so that a kernel more in one moves none in
// another.
inline constexpr int kKernelsPerFamily = 64;
inline constexpr int kMaxKernelFamilies = 32;
inline constexpr int kKernelTableSize = kKernelsPerFamily * kMaxKernelFamilies;

namespace internal {
// Whether the devices show a table of nulls instead of their kernels, those to come too. For
// kernels/hook.h.
CX_API void HideKernels(bool hidden);
// A table of nulls.
extern CX_API const KernelFn kNoKernels[kKernelTableSize];
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

    // Where kernels run later than they are called: the stream that they are put into unless a
    // StreamScope names another one. null where they are done when the call returns.
    Stream* default_stream() const { return default_stream_; }

    // Another one, owned by the device. NotImplementedError if it has none.
    virtual Stream& NewStream();

    // Uninitialized memory, aligned to 64 bytes, owned by the caller (one reference). Any nbytes
    // >= 0. Throws OutOfMemoryError. It is for use on the current stream; a backend with several
    // streams makes sure that memory of a freed buffer is not reused before all are done with it
    // (core/stream_pool.h does).
    virtual Buffer* Allocate(int64_t nbytes) = 0;

    // What of its memory is in use. Of a device that counts it, with a MemoryCounter or by a
    // StreamPool; the default is a NotImplementedError.
    virtual MemoryStats ReadMemoryStats();
    virtual void ResetMemoryPeaks();

    // Whether the host reads and writes the buffers of this device through plain pointers. Only
    // where kernels are synchronous.
    virtual bool IsHostAccessible() const { return false; }

    // Host memory <-> memory of this device, in the order of the current stream; returns when the
    // host memory may be reused, or has been written. The device memory is of a buffer that the
    // caller allocated on this stream, or keeps until Synchronize.
    virtual void CopyFromHost(void* dst, const void* src, int64_t nbytes) = 0;
    void CopyToHost(void* dst, const void* src, int64_t nbytes);

    // Between two devices of one backend; the default goes through host memory.
    virtual void CopyFromPeer(void* dst, Device& src_device, const void* src, int64_t nbytes);

    // Waits for all kernels launched so far, by any thread, on one stream or on all; then throws
    // the first error that kernels of this thread have reported since the last time (of ended
    // threads, too). So do CopyToHost and all that is built on it: numbers, text, NumPy.
    void Synchronize();
    void Synchronize(Stream& stream);

    // Keeps an error for the thread that launched the kernel. From any thread.
    void Report(const KernelError& error) noexcept;
    void Report(uint64_t thread, std::exception_ptr error) noexcept;

    // ContextError in the name of `op` if the context of the device has been destroyed.
    void CheckAlive(const char* op) const;

 protected:
    // Of devices with streams, which is to be set in the constructor.
    void SetDefaultStream(Stream* stream) { default_stream_ = stream; }
    // As CopyToHost, which throws what was reported meanwhile.
    virtual void ReadToHost(void* dst, const void* src, int64_t nbytes) = 0;
    // Returns when all streams (null), or one, have done what they have been given. Errors that
    // kernels left in the memory of the device are handed to Report here and in ReadToHost.
    virtual void Wait(Stream* /*stream*/) {}

 private:
    friend class Backend;
    friend struct internal::LayoutAccess;
    friend void internal::HideKernels(bool hidden);

    // Its context goes: from now on it computes nothing.
    void Retire();
    struct Reports;
    void ThrowReported();

    Backend* backend_;
    Context* context_;
    std::atomic<const KernelFn*> kernels_;
    int index_;
    Stream* default_stream_{nullptr};
    std::unique_ptr<Reports> reports_;
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
