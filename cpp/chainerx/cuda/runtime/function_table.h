// Kernels that are compiled and loaded on their first use.
#pragma once

#include <atomic>
#include <memory>

#include "chainerx/core/error.h"
#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

// The kernels of one operation, by dtype and by variant, on all devices. A static object.
template <int kRows, int kColumns>
class FunctionTable {
 public:
    // Returns the kernel; `write` returns its source.
    template <typename F>
    CUfunction Get(CudaDevice& device, int row, int column, const F& write) const {
        if (device.index() >= kMaxDevices) [[unlikely]] {
            throw NotImplementedError{"cuda: ", device.name(), " is beyond the ", kMaxDevices,
                                      " devices that are supported"};
        }
        std::atomic<Code*>& slot = code_[device.index()];
        Code* code = slot.load(std::memory_order_acquire);
        if (code == nullptr) [[unlikely]] {
            auto made = std::make_unique<Code>();
            if (slot.compare_exchange_strong(code, made.get(), std::memory_order_acq_rel)) {
                code = made.release();
            }
        }
        std::atomic<CUfunction>& function = code->of[row][column];
        CUfunction found = function.load(std::memory_order_acquire);
        if (found == nullptr) [[unlikely]] {
            found = device.Load(write());
            function.store(found, std::memory_order_release);
        }
        return found;
    }

 private:
    static constexpr int kMaxDevices = 64;
    // Set while the operation is used for the first time on a device; never freed.
    struct Code {
        std::atomic<CUfunction> of[kRows][kColumns]{};
    };
    mutable std::atomic<Code*> code_[kMaxDevices]{};
};

}  // namespace chainerx::cuda
