// Memory of a device in large blocks, below the free lists of StreamPool.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

// Physical memory that is mapped into ranges of addresses. A mapping takes the driver 50 us
// whatever its size: small blocks are cut from slabs, others have their own. What is given back is
// unmapped without waiting for the device, and its pages serve blocks of any size. Devices that
// can't map take what cuMemAllocAsync gives.
class BlockSource {
 public:
    // Null if there is no memory. The device's context is current in all calls.
    void* Allocate(CUdevice device, int64_t nbytes, CUstream stream);
    // Nothing on the device uses it any more. Never allocates.
    void Free(void* data, int64_t nbytes) noexcept;

 private:
    static constexpr int64_t kSlab = int64_t{32} << 20;
    static constexpr int64_t kMaxSmall = int64_t{4} << 20;

    struct Mapping {
        CUmemGenericAllocationHandle handle;
        int64_t nbytes;
        bool is_slab;
    };
    using Mappings = std::map<char*, Mapping>;  // by address
    struct Range {
        char* begin;
        int64_t nbytes;
    };

    void Start(CUdevice device);
    char* Map(int64_t nbytes, bool is_slab);
    void Unmap(Mappings::iterator mapping) noexcept;
    char* CutFromSlab(int64_t nbytes);
    void GiveToSlab(Mappings::iterator slab, char* begin, int64_t nbytes) noexcept;

    internal::ForkMutex mutex_;
    bool is_started_{false};
    CUmemAllocationProp property_{};
    int64_t granularity_{0};  // 0 where memory can't be mapped
    Mappings mappings_;
    size_t live_{0};           // blocks in slabs
    std::vector<Range> free_;  // of slabs, by address; has room for one beside each block
};

}  // namespace chainerx::cuda
