// A device: it owns buffers, and its kernels compute on them.
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

class Array;
class Backend;
class Context;
class Stream;
struct KernelError;

// A kernel with its signature erased; kernels/kernel.h restores it.
using KernelFn = void (*)();

// A table of kernels has a range of ids for each family, so that a new kernel in one family moves
// none in another.
inline constexpr int kKernelsPerFamily = 64;
inline constexpr int kMaxKernelFamilies = 32;
inline constexpr int kKernelTableSize = kKernelsPerFamily * kMaxKernelFamilies;

namespace internal {
// Sets whether devices, including future ones, show a table of nulls instead of their kernels. For
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
    // Indexed by kernel id: the kernels of the backend, or nulls while hooks are installed
    // (kernels/hook.h).
    const KernelFn* kernels() const { return kernels_.load(std::memory_order_relaxed); }

    // For asynchronous kernels: the stream to which they are queued unless a StreamScope selects
    // another one. null for synchronous kernels.
    Stream* default_stream() const { return default_stream_; }

    // Returns another stream, owned by the device. NotImplementedError if it has none.
    virtual Stream& NewStream();

    // Allocates uninitialized memory, aligned to 64 bytes, owned by the caller (one reference), for
    // any nbytes >= 0. Throws OutOfMemoryError. The memory is for use on the current stream; a
    // backend with several streams must not reuse the memory of a freed buffer before all of them
    // are done with it (core/stream_pool.h implements that).
    virtual Buffer* Allocate(int64_t nbytes) = 0;

    // Returns the memory in use, if the device counts it with a MemoryCounter or a StreamPool; the
    // default is a NotImplementedError.
    virtual MemoryStats ReadMemoryStats();
    virtual void ResetMemoryPeaks();

    // Returns whether the host may access the buffers of this device through plain pointers. Only
    // possible with synchronous kernels.
    virtual bool IsHostAccessible() const { return false; }

    // Copy between host memory and memory of this device, in the order of the current stream;
    // return when the host memory may be reused, or has been written. The caller has allocated the
    // device's buffer on this stream, or keeps it until Synchronize.
    virtual void CopyFromHost(void* dst, const void* src, int64_t nbytes) = 0;
    void CopyToHost(void* dst, const void* src, int64_t nbytes);

    // Copies a contiguous array of another device, whose memory the host can't access either, into
    // one of this device, in the order of the current streams of both: what either is given later
    // runs after the copy. The default goes through host memory.
    virtual void CopyFromPeer(const Array& src, const Array& dst);

    // Waits for all kernels launched so far, by any thread, on one stream or on all; then throws
    // the first error that kernels of this thread have reported since the last time (of ended
    // threads, too). CopyToHost and all functions based on it do the same: numbers, text, NumPy.
    void Synchronize();
    void Synchronize(Stream& stream);

    // Keeps an error for the thread that launched the kernel. From any thread.
    void Report(const KernelError& error) noexcept;
    void Report(uint64_t thread, std::exception_ptr error) noexcept;

    // ContextError naming `op` if the context of the device has been destroyed.
    void CheckAlive(const char* op) const;

 protected:
    // For devices with streams, to be called in the constructor.
    void SetDefaultStream(Stream* stream) { default_stream_ = stream; }
    // Implements CopyToHost, which throws errors that were reported meanwhile.
    virtual void ReadToHost(void* dst, const void* src, int64_t nbytes) = 0;
    // Returns when all streams (null), or one, have finished their work. Passes errors that kernels
    // left in the memory of the device to Report, here and in ReadToHost.
    virtual void Wait(Stream* /*stream*/) {}

 private:
    friend class Backend;
    friend struct internal::LayoutAccess;
    friend void internal::HideKernels(bool hidden);

    // Called when its context is destroyed: from now on it computes nothing.
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
// nullptr unsets it. ContextError if the device is not of the default context.
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
