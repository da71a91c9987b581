// A GPU.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/device_timer.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/stream_pool.h"
#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/gpu.h"
#include "chainerx/cuda/runtime/block_source.h"
#include "chainerx/cuda/runtime/cuda_stream.h"
#include "chainerx/cuda/runtime/module_cache.h"
#include "chainerx/kernels/device_graph.h"
#include "chainerx/kernels/fuse/fusion_device.h"

namespace chainerx::cuda {

class PinnedPool;

class CudaDevice : public Device,
                   public Gpu,
                   public DeviceTimer,
                   public GraphDevice,
                   public FusionDevice,
                   private StreamPool {
 public:
    CudaDevice(Backend* backend, int index);
    ~CudaDevice() override;

    // Makes its context that of this thread, which others may have changed.
    void Activate() {
        CUcontext current = nullptr;
        if (driver_.CtxGetCurrent(&current) != CUDA_SUCCESS || current != context_) [[unlikely]] {
            Check(driver_.CtxSetCurrent(context_), "cuCtxSetCurrent");
        }
    }

    // Where the context of a device is that of the thread, for what may happen between any two
    // calls of another library, as deallocations do: the one from before, which is the current
    // device of that library, comes back. Failures, as in a forked child, show in what follows.
    class ContextScope {
     public:
        explicit ContextScope(const CudaDevice& device) noexcept : driver_{device.driver_} {
            driver_.CtxGetCurrent(&before_);
            is_other_ = before_ != device.context_;
            if (is_other_) driver_.CtxSetCurrent(device.context_);
        }
        ~ContextScope() {
            if (is_other_) driver_.CtxSetCurrent(before_);
        }
        ContextScope(const ContextScope&) = delete;
        ContextScope& operator=(const ContextScope&) = delete;

     private:
        const Driver& driver_;
        CUcontext before_{nullptr};
        bool is_other_;
    };

    int arch() const { return arch_; }  // 90 is compute capability 9.0
    CudaStream& current_stream() const {
        return static_cast<CudaStream&>(*GetCurrentStream(*this));
    }
    // Compiles and loads a kernel if that has not been done yet.
    CUfunction Load(const DeviceSource& source) {
        return WithRoom([&] { return modules_.Load(source, arch_); });
    }
    // Calls f, which may need memory that the pool holds: if it fails, once more without that.
    template <typename F>
    std::invoke_result_t<F> WithRoom(const F& f) {
        try {
            return f();
        } catch (const OutOfMemoryError&) {
            ReleaseCachedMemory();
        }
        return f();
    }
    // The address of the log for kernels.
    void* error_log() const { return error_log_device_; }

    // Its values have come to this device: whoever waits for this one is told of its errors, too.
    void AddSender(const CudaDevice& sender) {
        senders_ |= uint64_t{1} << sender.index() | sender.senders_;
    }
    // Before an operand is used on a stream.
    void RecordUse(const Array& x, CudaStream& stream);

    Stream& NewStream() override;
    Buffer* Allocate(int64_t nbytes) override;
    MemoryStats ReadMemoryStats() override { return GetStats(); }
    void ResetMemoryPeaks() override { ResetPeaks(); }
    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override;
    void CopyFromPeer(const Array& src, const Array& dst) override;

    // gpu.cc has these.
    Stream& TakeStream(int priority) override;
    void GiveStreamBack(Stream& stream) noexcept override;
    Stream& WrapStream(void* handle) override;
    void* GetHandle(Stream& stream) override;
    int GetPriority(Stream& stream) override;
    bool IsIdle(Stream& stream) override;
    void* CreateEvent(bool timing) override;
    void DestroyEvent(void* event) noexcept override;
    void Record(void* event, Stream& stream) override;
    bool IsDone(void* event) override;
    void WaitForEvent(void* event) override;
    void WaitForEvent(Stream& stream, void* event) override;
    double GetMilliseconds(void* start, void* end) override;
    void SetMemoryLimit(int64_t bytes) override { limit_ = bytes < 0 ? INT64_MAX : bytes; }
    int64_t GetMemoryLimit() override { return limit_ == INT64_MAX ? -1 : limit_.load(); }
    void ReleaseCachedMemory() override;
    std::pair<int64_t, int64_t> GetFreeAndTotal() override;
    Array EmptyPinned(const Shape& shape, Dtype dtype) override;
    bool IsPinned(const Array& x) override;
    void CopyAsync(const Array& src, const Array& dst) override;
    void Order(void* earlier, void* later) override;
    void KeepFor(const Array& x, Stream& stream) override {
        StreamPool::RecordUse(*x.buffer(), stream);
    }
    void WaitForAll() noexcept override;
    void CallLater(void (*f)(void* data), void* data) noexcept override;
    int FindDevice(const void* data) override;
    void* GetKernel(const std::string& name, const std::string& text,
                    const std::vector<std::string>& options) override;
    void LaunchKernel(void* kernel, const KernelGrid& grid, const void* params, size_t nbytes,
                      const std::vector<const Array*>& arrays) override;
    void* EnterContext() override;
    void LeaveContext(void* before) noexcept override;
    // collectives.cc has these.
    void AllReduce(const ArrayLists& lists, Reduction reduction) override;
    void Broadcast(const ArrayLists& lists, size_t root) override;

    // cuda_graph.cc and blocks.cc have these.
    std::unique_ptr<DeviceGraph> RecordGraph(const std::function<void()>& calls) override;
    void WriteBlocks(std::span<const Copy> copies, std::span<const Word> words) override;

    // cuda/fuse has these.
    const FusionLimits& fusion_limits() const override;
    bool CanFuse(const KernelInfo& kernel) const override;
    bool CanHold(size_t n_arrays, size_t n_scalars, int ndim) const override;

    Mark PutMark() override;
    void TakeMarks(std::span<const Mark> marks, int64_t* times) override;

    // Nothing is computed from now on.
    void Stop() noexcept;

 protected:
    void ReadToHost(void* dst, const void* src, int64_t nbytes) override;
    void Wait(Stream* stream) override;
    void* AllocateBlock(int64_t nbytes) override;
    void FreeBlock(void* data, int64_t nbytes) noexcept override;
    int64_t ReadFreeBytes() override;

 private:
    // Returns when query() no longer says that it is not ready, or is interrupted, as by Ctrl-C:
    // the driver's own waits can't be.
    template <typename F>
    static void WaitWhileNotReady(const F& query) {
        using std::chrono::steady_clock;
        const auto start = steady_clock::now();
        while (query() == CUDA_ERROR_NOT_READY) {
            internal::CheckInterrupt();
            const auto elapsed = steady_clock::now() - start;
            // The CPU is free after a while, for some percent of the time.
            if (elapsed < std::chrono::milliseconds{2}) continue;
            std::this_thread::sleep_for(
                std::min<steady_clock::duration>(elapsed / 32, std::chrono::milliseconds{1}));
        }
    }
    void WaitWhileBusy(CUstream stream) {
        WaitWhileNotReady([&] { return driver_.StreamQuery(stream); });
    }
    // Waits for the context.
    CUresult WaitForContext() noexcept;
    PinnedPool& pinned() const;
    void ReportErrors();
    void ReportErrorsTo(CudaDevice& synchronized);
    std::vector<CUstream> OwnStreams();
    CudaStream& JoinedStream();

    const Driver& driver_;
    CUdevice device_{0};
    CUcontext context_{nullptr};
    int arch_{0};
    BlockSource blocks_;
    ModuleCache modules_;
    ErrorLog* error_log_{nullptr};
    void* error_log_device_{nullptr};
    std::atomic<bool> is_reporting_{false};
    std::atomic<uint64_t> senders_{0};       // a bit for each
    std::atomic<int64_t> limit_{INT64_MAX};  // of held_
    std::atomic<int64_t> held_{0};           // bytes of blocks
    internal::ForkMutex recording_;          // held while a stream records, and of recorders_
    // By priority. Nobody asks whether these are idle, which the driver forbids in a recording.
    std::map<int, std::unique_ptr<CudaStream>> recorders_;
    internal::ForkMutex mutex_;  // of the lists
    std::vector<std::unique_ptr<CudaStream>> streams_;
    std::vector<CudaStream*> unused_streams_;
    std::vector<CUevent> unused_marks_;
    CudaStream* joined_{nullptr};  // waits for others, and does no work
};

}  // namespace chainerx::cuda
