// Kernels whose text the user wrote: see cuda/gpu.h.
#include "chainerx/core/capture_observer.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {
namespace {

// More dynamic shared memory has to be asked for.
constexpr unsigned kDefaultShared = 48 << 10;

}  // namespace

void* CudaDevice::GetKernel(const std::string& name, const std::string& text,
                            const std::vector<std::string>& options) {
    Activate();
    return modules_.Load({name, text, options}, arch_);
}

void CudaDevice::LaunchKernel(void* kernel, const KernelGrid& grid, const void* params,
                              size_t nbytes, const std::vector<const Array*>& arrays) {
    internal::CheckMayRead("a kernel of the program is launched");
    Activate();
    CudaStream& stream = current_stream();
    for (const Array* x : arrays) RecordUse(*x, stream);
    auto* function = static_cast<CUfunction>(kernel);
    if (grid.shared_bytes > kDefaultShared) {
        CX_CU(FuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              static_cast<int>(grid.shared_bytes));
    }
    // Without the attribute of LaunchErased: these kernels need not wait for those before them.
    const CUlaunchConfig config{
        grid.blocks[0],  grid.blocks[1],    grid.blocks[2],  grid.threads[0], grid.threads[1],
        grid.threads[2], grid.shared_bytes, stream.handle(), nullptr,         0};
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<void*>(params),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &nbytes, CU_LAUNCH_PARAM_END};
    CX_CU(LaunchKernelEx, &config, function, nullptr, extra);
}

}  // namespace chainerx::cuda
