#include "chainerx/cuda/random/calls.h"

#include "chainerx/core/error.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/random/random.h"

namespace chainerx::cuda {

DeviceSource WriteRandomSource(std::string name, const char* header, const char* params,
                               const std::string& function) {
    return MakeSource(std::move(name), StrCat("random/device/", header).c_str(), params,
                      StrCat(function, "(p);"));
}

RandomLaunch::RandomLaunch(const Array& state, int64_t threads)
    : device_{static_cast<CudaDevice&>(state.device())},
      stream_{device_.current_stream()},
      blocks_{(threads + kRandomThreads - 1) / kRandomThreads} {
    device_.Activate();
    if (blocks_ == 1) {
        device_.RecordUse(state, stream_);
        call_.state = state.raw_data();
        return;
    }
    key_ = EmptyUnchecked(Shape{2}, Dtype::kUInt64, device_);
    TakeCallInto(state, key_);
    call_.key = key_.raw_data();
}

void TakeCallInto(const Array& state, const Array& key) {
    static constinit const FunctionTable<1, 1> functions{};
    CudaDevice& device = Prepare(state, key);
    CudaStream& stream = device.current_stream();
    const CUfunction function = functions.Get(device, 0, 0, [] {
        return WriteRandomSource("RandomKey", "calls.h", "RandomCall", "TakeCall");
    });
    RandomCall call{};
    call.state = state.raw_data();
    call.key = key.raw_data();
    Launch(stream, function, {1, 1}, call);
}

namespace {

void RandomKey(const Array& state, const Array& key) { TakeCallInto(state, key); }
CX_CUDA_KERNEL(RandomKey)

}  // namespace
}  // namespace chainerx::cuda
