#include "chainerx/cuda/runtime/cuda_backend.h"

#include "chainerx/core/context.h"
#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/pinned_pool.h"
#include "chainerx/kernels/plugin.h"

namespace chainerx::cuda {

KernelTable& MutableKernels() {
    static KernelTable table;
    return table;
}

CudaBackend::CudaBackend(Context& context)
    : Backend{context, "cuda", MutableKernels().fns},
      pinned_{std::make_unique<PinnedPool>(context.GetNativeBackend().GetDevice(0))} {
    GetDriver();  // so that a machine without one says so now
}

CudaBackend::~CudaBackend() = default;

int CudaBackend::GetDeviceCount() const {
    int count = 0;
    CX_CU(DeviceGetCount, &count);
    return count;
}

std::unique_ptr<Device> CudaBackend::CreateDevice(int index) {
    auto device = std::make_unique<CudaDevice>(this, index);
    devices_.push_back(device.get());
    return device;
}

void CudaBackend::OnRetired() noexcept {
    for (CudaDevice* device : devices_) device->Stop();
}

}  // namespace chainerx::cuda

CX_BACKEND_PLUGIN(chainerx::cuda::CudaBackend)
