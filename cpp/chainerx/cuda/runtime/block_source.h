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
    // Lets another device access all blocks from now on, if it can: mapped memory has to be shared
    // with each device, which takes the driver as long as a mapping. Returns whether it can access
    // this one.
    bool Share(void* data, CUdevice peer);

 private:
    static constexpr int64_t kSlab = int64_t{32} << 20;
    static constexpr int64_t kMaxSmall = int64_t{4} << 20;

    struct Mapping {
        CUmemGenericAllocationHandle handle;
        int64_t nbytes;
        bool is_slab;
    };
    using Mappings = std::map<char*, Mapping>;  // by address
    struct Peer {
        CUdevice device;
        bool has_access;
    };
    struct Range {
        char* begin;
        int64_t nbytes;
    };

    void Start(CUdevice device);
    // The mapping with this address; the end if there is none.
    Mappings::iterator Find(void* data);
    bool ShareAll(CUdevice peer);
    char* Map(int64_t nbytes, bool is_slab);
    void Unmap(Mappings::iterator mapping) noexcept;
    char* CutFromSlab(int64_t nbytes);
    void GiveToSlab(Mappings::iterator slab, char* begin, int64_t nbytes) noexcept;

    internal::ForkMutex mutex_;
    bool is_started_{false};
    CUmemAllocationProp property_{};
    int64_t granularity_{0};  // 0 where memory can't be mapped
    Mappings mappings_;
    std::vector<CUmemAccessDesc> access_;  // of this device and the peers that have it
    std::vector<Peer> peers_;              // that have asked
    size_t live_{0};                       // blocks in slabs
    std::vector<Range> free_;  // of slabs, by address; has room for one beside each block
};

}  // namespace chainerx::cuda
