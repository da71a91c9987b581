// A GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/stream_pool.h"
#include "chainerx/cuda/device/error_log.h"
#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/runtime/block_source.h"
#include "chainerx/cuda/runtime/cuda_stream.h"
#include "chainerx/cuda/runtime/module_cache.h"

namespace chainerx::cuda {

class CudaDevice : public Device, private StreamPool {
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

    int arch() const { return arch_; }  // 90 is compute capability 9.0
    CudaStream& current_stream() const {
        return static_cast<CudaStream&>(*GetCurrentStream(*this));
    }
    ModuleCache& modules() { return modules_; }
    // The address of the log for kernels.
    void* error_log() const { return error_log_device_; }

    // Before an operand is used on a stream.
    void RecordUse(const Array& x, CudaStream& stream);

    Stream& NewStream() override;
    Buffer* Allocate(int64_t nbytes) override;
    MemoryStats ReadMemoryStats() override { return GetStats(); }
    void ResetMemoryPeaks() override { ResetPeaks(); }
    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override;
    void CopyFromPeer(void* dst, Device& src_device, const void* src, int64_t nbytes) override;

    // Nothing is computed from now on.
    void Stop() noexcept;

 protected:
    void ReadToHost(void* dst, const void* src, int64_t nbytes) override;
    void Wait(Stream* stream) override;
    void* AllocateBlock(int64_t nbytes) override;
    void FreeBlock(void* data, int64_t nbytes) noexcept override;

 private:
    void ReportErrors();

    const Driver& driver_;
    CUdevice device_{0};
    CUcontext context_{nullptr};
    int arch_{0};
    BlockSource blocks_;
    ModuleCache modules_;
    ErrorLog* error_log_{nullptr};
    void* error_log_device_{nullptr};
    internal::ForkMutex mutex_;  // of streams_
    std::vector<std::unique_ptr<CudaStream>> streams_;
};

}  // namespace chainerx::cuda
