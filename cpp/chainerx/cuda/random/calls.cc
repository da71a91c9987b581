#include "chainerx/cuda/random/calls.h"

#include "chainerx/kernels/random/random.h"

namespace chainerx::cuda {

RandomLaunch::RandomLaunch(const Array& state, int64_t threads)
    : device_{static_cast<CudaDevice&>(state.device())}, blocks_{CeilDiv(threads, kBlockThreads)} {
    device_.Activate();
    if (blocks_ == 1) {
        Use(state);
        call_.state = state.raw_data();
        return;
    }
    key_ = EmptyUnchecked(Shape{2}, Dtype::kUInt64, device_);
    TakeCallInto(state, key_);
    call_.key = key_.raw_data();
}

CX_DEVICE_KERNEL(kTakeCall, "random/device/calls.h", RandomCall, "TakeCall")
void TakeCallInto(const Array& state, const Array& key) {
    RandomCall call{};
    call.state = state.raw_data();
    call.key = key.raw_data();
    kTakeCall.Launch(Prepare(state, key), {1, 1}, call);
}

namespace {

void RandomKey(const Array& state, const Array& key) { TakeCallInto(state, key); }
CX_CUDA_KERNEL(RandomKey)

}  // namespace
}  // namespace chainerx::cuda
