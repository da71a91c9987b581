// Memory for small objects and small buffers: per-thread free lists by size class, no locks.
// Blocks are aligned to 64 bytes. A block may be freed by another thread than the one that took it.
#pragma once

#include <cstddef>

#include "chainerx/core/macro.h"
#ifdef CHAINERX_BUILDING
#include "chainerx/core/thread_state.h"
#endif

namespace chainerx::internal {

// For code outside of the library, which thread state is not compiled into.
CX_API void* PoolAllocOutside(size_t size);
CX_API void PoolFreeOutside(void* p, size_t size) noexcept;

#ifndef CHAINERX_BUILDING

inline void* PoolAlloc(size_t size) { return PoolAllocOutside(size); }
inline void PoolFree(void* p, size_t size) noexcept { PoolFreeOutside(p, size); }

#else

inline constexpr size_t kPoolGrain = 64;
inline constexpr size_t kPoolMaxSize = kPoolGrain * ThreadState::kNumPoolClasses;

// Throws OutOfMemoryError.
CX_API void* PoolAllocSlow(size_t size);
CX_API void PoolFreeSlow(void* p, size_t size) noexcept;

inline void* PoolAlloc(size_t size) {
    const size_t c = (size + kPoolGrain - 1) / kPoolGrain;
    if (c <= ThreadState::kNumPoolClasses) [[likely]] {
        ThreadState::FreeList& list = t_state.pool[c - 1];
        if (void* p = list.head) [[likely]] {
            list.head = *static_cast<void**>(p);
            --list.count;
            return p;
        }
    }
    return PoolAllocSlow(size);
}

// `size` as it was asked for.
inline void PoolFree(void* p, size_t size) noexcept {
    const size_t c = (size + kPoolGrain - 1) / kPoolGrain;
    if (c <= ThreadState::kNumPoolClasses) [[likely]] {
        ThreadState::FreeList& list = t_state.pool[c - 1];
        if (list.count < t_state.pool_limit) [[likely]] {
            *static_cast<void**>(p) = list.head;
            list.head = p;
            ++list.count;
            return;
        }
    }
    PoolFreeSlow(p, size);
}

#endif

}  // namespace chainerx::internal
