// Calls of generators.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {

// Launches a kernel that draws from a generator, with as many threads as asked for at least; if
// that takes several blocks of threads, a kernel before it takes the call. Without any threads, the
// call is counted all the same.
class RandomLaunch {
 public:
    RandomLaunch(const Array& state, int64_t threads);

    CudaDevice& device() const { return device_; }
    // Keeps the memory of an operand until the launch is done.
    void Use(const Array& x) const { device_.RecordUse(x, device_.current_stream()); }
    const RandomCall& call() const { return call_; }

    template <typename Params, typename... Arguments>
    void Run(const Kernel<Params, Arguments...>& kernel, const Params& params,
             const Arguments&... arguments) const {
        kernel.Launch(device_, {blocks_}, params, arguments...);
    }

 private:
    CudaDevice& device_;
    int64_t blocks_;
    Array key_;
    RandomCall call_{};
};

// Launches what stores the next call of a generator.
void TakeCallInto(const Array& state, const Array& key);

}  // namespace chainerx::cuda
