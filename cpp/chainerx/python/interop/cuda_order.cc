#include "chainerx/python/interop/cuda_order.h"

#include "chainerx/core/blocking.h"
#include "chainerx/core/device.h"
#include "chainerx/core/stream.h"
#include "chainerx/cuda/gpu.h"

namespace chainerx::python {
namespace {

void* ToHandle(uintptr_t stream) { return reinterpret_cast<void*>(stream); }

struct OrderedOwner {
    cuda::Gpu* gpu;
    internal::Owner owner;

    static void Release(void* o) {
        static_cast<OrderedOwner*>(o)->gpu->CallLater(
            [](void* data) {
                auto* self = static_cast<OrderedOwner*>(data);
                self->owner.release(self->owner.owner);
                delete self;
            },
            o);
    }
};

}  // namespace

bool HasCudaStreams(const Device& device) {
    return dynamic_cast<const cuda::Gpu*>(&device) != nullptr;
}

int FindGpu(Device& any, const void* data) { return cuda::GpuOf(any).FindDevice(data); }

uintptr_t CurrentCudaStream(Device& device) {
    return reinterpret_cast<uintptr_t>(cuda::GpuOf(device).GetHandle(*GetCurrentStream(device)));
}

void OrderOthersAfterUs(Device& device, uintptr_t stream) {
    cuda::GpuOf(device).Order(ToHandle(CurrentCudaStream(device)), ToHandle(stream));
}

void OrderUsAfterOthers(Device& device, uintptr_t stream) {
    cuda::GpuOf(device).Order(ToHandle(stream), ToHandle(CurrentCudaStream(device)));
}

bool KeepForOthers(const Array& x, uintptr_t stream) {
    if (stream != kLegacyStream && stream != kPerThreadStream) return false;
    cuda::Gpu& gpu = cuda::GpuOf(x.device());
    Stream& wrapped = gpu.WrapStream(ToHandle(stream));
    gpu.KeepFor(x, wrapped);
    return true;
}

void WaitForAllStreams(Device& device) {
    const internal::BlockingScope blocking;
    cuda::GpuOf(device).WaitForAll();
}

internal::Owner ReleaseInOrder(Device& device, internal::Owner owner) {
    if (!HasCudaStreams(device)) return owner;
    return {new OrderedOwner{&cuda::GpuOf(device), owner}, &OrderedOwner::Release};
}

}  // namespace chainerx::python
