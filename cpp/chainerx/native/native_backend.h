// The CPU: buffers are host memory, kernels run in the calling thread and the thread pool.
#pragma once

#include <memory>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::native {

// The kernels' units fill it while the library loads. Backends that compute in host memory start
// from a copy.
CX_API KernelTable& Kernels();

template <typename K>
bool RegisterKernel(typename K::Fn* fn) {
    Kernels().Set<K>(fn);
    return true;
}

// Write it after a function of the kernel's name in the anonymous namespace.
#define CX_NATIVE_KERNEL(Name) \
    [[maybe_unused]] const bool kRegistered##Name = RegisterKernel<kernels::Name>(&Name);

class CX_API NativeDevice : public Device {
 public:
    using Device::Device;

    Buffer* Allocate(int64_t nbytes) override;
    bool IsHostAccessible() const override { return true; }
    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override;
    // The cache and its limit are shared by all native devices.
    MemoryStats ReadMemoryStats() override;
    void ResetMemoryPeaks() override { counter_.ResetPeaks(); }

    MemoryCounter& memory_counter() { return counter_; }

 protected:
    void ReadToHost(void* dst, const void* src, int64_t nbytes) override;

 private:
    CX_COLD static Buffer* Told(Buffer* b);
    CX_COLD Buffer* AllocateSlow(int64_t nbytes);

    MemoryCounter counter_;
};

class CX_API NativeBackend : public Backend {
 public:
    // Several devices on one CPU, for programs and tests that move arrays between devices.
    static constexpr int kDeviceCount = 4;

    explicit NativeBackend(Context& context, std::string name = "native",
                           const KernelTable& kernels = Kernels())
        : Backend{context, std::move(name), kernels.fns} {}

    int GetDeviceCount() const override;

 protected:
    std::unique_ptr<Device> CreateDevice(int index) override;
};

}  // namespace chainerx::native
