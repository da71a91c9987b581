// The CPU: buffers are host memory, kernels run in the calling thread and the thread pool.
#pragma once

#include <memory>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::native {

// Filled by the kernels' own units while the library loads. Backends that compute on host memory
// start from a copy of it.
CX_API KernelTable& Kernels();

template <typename K>
bool RegisterKernel(typename K::Fn* fn) {
    Kernels().Set<K>(fn);
    return true;
}

// Behind a function of the kernel's name in the anonymous namespace.
#define CX_NATIVE_KERNEL(Name) \
    [[maybe_unused]] const bool kRegistered##Name = RegisterKernel<kernels::Name>(&Name);

class CX_API NativeDevice : public Device {
 public:
    using Device::Device;

    Buffer* Allocate(int64_t nbytes) override;
    bool IsHostAccessible() const override { return true; }
    void CopyFromHost(void* dst, const void* src, int64_t nbytes) override;
    // What is cached, and the limit of that, are of all native devices together.
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
    // Several devices on one CPU, for programs and tests that move arrays about.
    static constexpr int kDeviceCount = 4;

    explicit NativeBackend(Context& context, std::string name = "native",
                           const KernelTable& kernels = Kernels())
        : Backend{context, std::move(name), kernels.fns} {}

    int GetDeviceCount() const override;

 protected:
    std::unique_ptr<Device> CreateDevice(int index) override;
};

}  // namespace chainerx::native
