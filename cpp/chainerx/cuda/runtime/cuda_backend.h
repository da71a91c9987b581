// The backend "cuda".
#pragma once

#include <memory>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::cuda {

class CudaDevice;
class PinnedPool;

// The kernels of all devices; each room of cuda/ adds its own.
KernelTable& MutableKernels();

class CudaBackend : public Backend {
 public:
    explicit CudaBackend(Context& context);
    ~CudaBackend() override;
    int GetDeviceCount() const override;
    // Page-locked memory of the host, for all devices.
    PinnedPool& pinned() { return *pinned_; }

 protected:
    std::unique_ptr<Device> CreateDevice(int index) override;
    void OnRetired() noexcept override;

 private:
    std::unique_ptr<PinnedPool> pinned_;
    std::vector<CudaDevice*> devices_;
};

// Adds a kernel to the table while the library is loaded.
template <typename K>
struct Registered {
    explicit Registered(typename K::Fn* fn) { MutableKernels().Set<K>(fn); }
};

}  // namespace chainerx::cuda

// Makes the function Name of this file the kernel of that name.
#define CX_CUDA_KERNEL(Name) \
    const ::chainerx::cuda::Registered<::chainerx::kernels::Name> kRegistered##Name{&Name};
