// Memory of a device in large blocks, below the free lists of StreamPool.
#pragma once

#include <cstdint>
#include <map>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/types.h"

namespace chainerx::cuda {

// Small blocks are cut from slabs, since each allocation of the driver takes 90 us.
class BlockSource {
 public:
    // Null if there is no memory. The device's context is current.
    void* Allocate(int64_t nbytes);
    void Free(void* data, int64_t nbytes) noexcept;

 private:
    static constexpr int64_t kSlab = int64_t{32} << 20;
    static constexpr int64_t kMaxSmall = int64_t{1} << 20;

    struct Slab {
        int64_t used{0};  // from the start
        int64_t live{0};  // blocks
    };

    void* AllocateSmall(int64_t nbytes);

    internal::ForkMutex mutex_;
    std::map<char*, Slab> slabs_;
    char* current_{nullptr};
};

}  // namespace chainerx::cuda
