// Streams, events, pinned memory and limits of NVIDIA's GPUs, for programs. Nothing of CUDA is
// needed to include or link it: the plug-in "cuda" implements `Gpu`, whose devices are found by
// their names as all others ("cuda:0").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/stream.h"

namespace chainerx::cuda {

// How often a kernel runs, in up to three dimensions, and the dynamic shared memory of a block.
struct KernelGrid {
    unsigned blocks[3]{1, 1, 1};
    unsigned threads[3]{1, 1, 1};
    unsigned shared_bytes{0};
};

using ArrayLists = std::vector<std::vector<Array>>;
enum class Reduction { kSum, kMean, kMax, kMin };

// What devices of the backend "cuda" have beyond those of others. Handles are those of CUDA's
// driver, as pointers. New functions are added at the end, so that older programs go on.
class CX_API Gpu {
 public:
    virtual ~Gpu() = default;

    // Returns a stream for the caller alone until it is given back; its work may still run then.
    // Lower numbers are more urgent; those beyond the range of the device are clipped.
    virtual Stream& TakeStream(int priority) = 0;
    // Ends the use of what TakeStream or WrapStream returned.
    virtual void GiveStreamBack(Stream& stream) noexcept = 0;
    // Returns the stream of a CUstream that others made: null is the legacy default stream. They
    // destroy it after it has been given back and the last array that was used on it has gone.
    virtual Stream& WrapStream(void* handle) = 0;
    virtual void* GetHandle(Stream& stream) = 0;
    virtual int GetPriority(Stream& stream) = 0;
    // Whether everything that was queued has been done.
    virtual bool IsIdle(Stream& stream) = 0;

    virtual void* CreateEvent(bool timing) = 0;
    virtual void DestroyEvent(void* event) noexcept = 0;
    virtual void Record(void* event, Stream& stream) = 0;
    virtual bool IsDone(void* event) = 0;
    virtual void WaitForEvent(void* event) = 0;
    // What is queued from now on runs after the event.
    virtual void WaitForEvent(Stream& stream, void* event) = 0;
    virtual double GetMilliseconds(void* start, void* end) = 0;

    // Bytes that the device may take from the driver for arrays; negative: no limit.
    virtual void SetMemoryLimit(int64_t bytes) = 0;
    virtual int64_t GetMemoryLimit() = 0;
    virtual void ReleaseCachedMemory() = 0;
    // Of the whole device: bytes that nobody uses, and all.
    virtual std::pair<int64_t, int64_t> GetFreeAndTotal() = 0;

    // Returns an array of native:0 in page-locked memory, which the device can copy by itself.
    virtual Array EmptyPinned(const Shape& shape, Dtype dtype) = 0;
    virtual bool IsPinned(const Array& x) = 0;
    // Queues a copy between a contiguous array of this device and one of the host or of another GPU
    // to the current stream. Two GPUs: their current streams run it in the order of both, and the
    // host never waits. The host's: with pinned memory it returns at once, and the host must not
    // write the source, or read the result, until the stream has passed it; otherwise it waits.
    virtual void CopyAsync(const Array& src, const Array& dst) = 0;

    // For memory that is shared with other libraries; handles of streams as above.
    //
    // What the stream `later` is given from now on runs after all that `earlier` has been given.
    virtual void Order(void* earlier, void* later) = 0;
    // The memory of `x` is not used again before the stream has passed what it was given until the
    // last array over it has gone.
    virtual void KeepFor(const Array& x, Stream& stream) = 0;
    // Makes the host wait for all streams of the device, also those of others.
    virtual void WaitForAll() noexcept = 0;
    // Calls f(data) once all streams of this library have passed what they were given: at once, or
    // on another thread, which must not use the device.
    virtual void CallLater(void (*f)(void* data), void* data) noexcept = 0;
    // The index of the device that has the memory at an address; -1 if none has.
    virtual int FindDevice(const void* data) = 0;

    // Returns the kernel `name` of a text in CUDA C++, an `extern "C" __global__` function, which
    // is compiled on its first use, with options of NVRTC besides those for the device. It lives as
    // long as the device. BackendError, with the compiler's log, if the text does not compile.
    virtual void* GetKernel(const std::string& name, const std::string& text,
                            const std::vector<std::string>& options) = 0;
    // Queues such a kernel to the current stream. `params`: its parameters, each at its alignment,
    // as in a struct. `arrays`: all whose memory it uses. Nothing is checked, and graphs see
    // nothing of it.
    virtual void LaunchKernel(void* kernel, const KernelGrid& grid, const void* params,
                              size_t nbytes, const std::vector<const Array*>& arrays) = 0;

    // Several GPUs, of which this may be any, in the order of their current streams. Each list has
    // the arrays of one GPU; the i-th of all have one shape and dtype. NCCL does it; where it is
    // not there, or lacks the dtype, copies do, which are combined in the order of the lists.
    //
    // Writes the sum (or what else) of the i-th arrays into all of them.
    virtual void AllReduce(const ArrayLists& lists, Reduction reduction) = 0;
    // Writes the i-th array of lists[root] into the other i-th ones.
    virtual void Broadcast(const ArrayLists& lists, size_t root) = 0;

    // The CUcontext of a thread is what other libraries take for its current device. Calls of this
    // library make it that of their device, and leave it so.
    //
    // Makes that of this device the thread's, and returns the one before, which may be null.
    virtual void* EnterContext() = 0;
    // Makes what EnterContext has returned the thread's again.
    virtual void LeaveContext(void* before) noexcept = 0;
};

// DeviceError if it is of another backend.
inline Gpu& GpuOf(Device& device) {
    if (auto* gpu = dynamic_cast<Gpu*>(&device)) return *gpu;
    throw DeviceError{"cuda: ", device.name(), " is no device of the backend cuda"};
}

// A point in a stream's work, and its time.
class Event {
 public:
    explicit Event(Device& device, bool timing = true)
        : device_{&device}, handle_{GpuOf(device).CreateEvent(timing)}, has_time_{timing} {}
    Event(Event&& other) noexcept
        : device_{other.device_},
          handle_{std::exchange(other.handle_, nullptr)},
          has_time_{other.has_time_} {}
    Event& operator=(Event&&) = delete;
    ~Event() {
        if (handle_ != nullptr) GpuOf(*device_).DestroyEvent(handle_);
    }

    Device& device() const { return *device_; }
    void* handle() const { return handle_; }
    bool has_time() const { return has_time_; }

    void Record() { Record(*GetCurrentStream(*device_)); }
    void Record(Stream& stream) {
        CheckSameDevice("Event.record", *device_, stream.device());
        GpuOf(*device_).Record(handle_, stream);
    }
    // True also if it has never been recorded.
    bool IsDone() const { return GpuOf(*device_).IsDone(handle_); }
    void Synchronize() const { GpuOf(*device_).WaitForEvent(handle_); }
    // Work that is queued to the stream from now on, which may be of another device, runs later.
    void Delay(Stream& stream) const { GpuOf(stream.device()).WaitForEvent(stream, handle_); }
    // Milliseconds from this event to another one, both done and with time.
    double GetMillisecondsTo(const Event& end) const {
        CheckSameDevice("Event.elapsed_time", *device_, end.device());
        if (!has_time_ || !end.has_time_) {
            throw ValueError{"Event.elapsed_time: an event was created without timing"};
        }
        return GpuOf(*device_).GetMilliseconds(handle_, end.handle_);
    }

 private:
    Device* device_;
    void* handle_;
    bool has_time_;
};

}  // namespace chainerx::cuda
