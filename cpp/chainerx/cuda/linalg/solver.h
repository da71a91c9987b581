// cuSOLVER, for the current stream of a device.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

// One thread calls the library at a time, while such an object lives.
class Solver {
 public:
    Solver(CudaDevice& device, int64_t count);

    // Of each of `count` matrices, an int32 on the device.
    const Array& info() const { return info_; }
    int* InfoOf(int64_t i) const { return reinterpret_cast<int*>(info_.raw_data()) + i; }
    cusolverDnHandle_t handle() const { return handle_; }
    cusolverDnParams_t params() const { return params_; }

    // Work space of the size that a function asks for, on the device and on the host.
    void Reserve(size_t device_size, size_t host_size);
    void* device_work() const { return device_size_ == 0 ? nullptr : device_work_.raw_data(); }
    size_t device_size() const { return device_size_; }
    void* host_work() { return host_work_.empty() ? nullptr : host_work_.data(); }
    size_t host_size() const { return host_work_.size(); }

 private:
    CudaDevice& device_;
    std::lock_guard<internal::ForkMutex> lock_;
    cusolverDnHandle_t handle_{nullptr};
    cusolverDnParams_t params_{nullptr};
    Array info_;
    Array device_work_;
    size_t device_size_{0};
    std::vector<char> host_work_;
};

}  // namespace chainerx::cuda
