#include "chainerx/cuda/runtime/cuda_backend.h"

#include "chainerx/cuda/driver/driver.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/kernels/plugin.h"

namespace chainerx::cuda {

KernelTable& MutableKernels() {
    static KernelTable table;
    return table;
}

CudaBackend::CudaBackend(Context& context) : Backend{context, "cuda", MutableKernels().fns} {
    GetDriver();  // so that a machine without one says so now
}

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
