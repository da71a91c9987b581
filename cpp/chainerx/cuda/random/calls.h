// Calls of generators.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {

// Launches a kernel that draws from a generator, with as many threads as asked for at least; if
// that takes several blocks of threads, a kernel before it takes the call. Without any threads, the
// call is counted all the same.
class RandomLaunch {
 public:
    RandomLaunch(const Array& state, int64_t threads);

    CudaDevice& device() const { return device_; }
    CudaStream& stream() const { return stream_; }
    const RandomCall& call() const { return call_; }

    template <typename Params>
    void Run(CUfunction function, const Params& params) const {
        if (blocks_ != 0) Launch(stream_, function, {blocks_, kRandomThreads}, params);
    }

 private:
    CudaDevice& device_;
    CudaStream& stream_;
    int64_t blocks_;
    Array key_;
    RandomCall call_{};
};

// Launches what stores the next call of a generator.
void TakeCallInto(const Array& state, const Array& key);

// Writes the source of a kernel that calls a function of cuda/random/device/`header`.
DeviceSource WriteRandomSource(std::string name, const char* header, const char* params,
                               const std::string& function);

}  // namespace chainerx::cuda
