// Memory for small objects and small buffers: per-thread free lists by size class, no locks.
// Blocks are aligned to 64 bytes. A block may be freed by another thread than the one that took it.
#pragma once

#include <cstddef>

#include "chainerx/core/macro.h"
#ifdef CHAINERX_BUILDING
#include "chainerx/core/thread_state.h"
#endif

namespace chainerx::internal {

// For code outside of the library, for which thread state is not visible.
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

// Returns null if no free block is available. `size` is at most kPoolMaxSize.
inline void* PoolTryAlloc(size_t size) {
    const size_t c = (size + kPoolGrain - 1) / kPoolGrain;
    ThreadState::FreeList& list = t_state.pool[c - 1];
    void* p = list.head;
    if (p != nullptr) [[likely]] {
        list.head = *static_cast<void**>(p);
        --list.count;
    }
    return p;
}

inline void* PoolAlloc(size_t size) {
    if (size <= kPoolMaxSize) [[likely]] {
        if (void* p = PoolTryAlloc(size)) [[likely]]
            return p;
    }
    return PoolAllocSlow(size);
}

// `size` is the requested size, at most kPoolMaxSize.
inline void PoolFreeSmall(void* p, size_t size) noexcept {
    const size_t c = (size + kPoolGrain - 1) / kPoolGrain;
    ThreadState::FreeList& list = t_state.pool[c - 1];
    if (list.count < t_state.pool_limit) [[likely]] {
        *static_cast<void**>(p) = list.head;
        list.head = p;
        ++list.count;
        return;
    }
    PoolFreeSlow(p, size);
}

// `size` is the requested size.
inline void PoolFree(void* p, size_t size) noexcept {
    if (size <= kPoolMaxSize) [[likely]]
        return PoolFreeSmall(p, size);
    PoolFreeSlow(p, size);
}

#endif

}  // namespace chainerx::internal
