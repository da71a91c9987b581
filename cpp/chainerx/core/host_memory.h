// Memory above the small pool: freed blocks are cached and reused, since fresh pages cost more than
// most kernels; the largest use huge pages. Above the limit, the least recently used sizes are
// evicted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

class MemoryCounter;

// Allocates memory for arrays, aligned to 64 bytes. Frees the cached blocks and retries before it
// throws OutOfMemoryError.
void* AllocLarge(size_t size, MemoryCounter& counter);
void FreeLarge(void* p, size_t size, MemoryCounter& counter) noexcept;

// Allocates a workspace of a kernel, from any of its threads. It is counted as such for the device
// on which the thread has last allocated memory, as for the results of the kernel.
CX_API void* AllocLarge(size_t size);
CX_API void FreeLarge(void* p, size_t size) noexcept;

struct MemoryInfo {
    int64_t in_use;  // bytes in allocated blocks
    int64_t cached;  // bytes cached for reuse
    int64_t limit;   // maximum of cached bytes; $CHAINERX_CACHE_LIMIT sets it
};
CX_API MemoryInfo GetMemoryInfo();
CX_API void SetCacheLimit(int64_t bytes);
CX_API void ReleaseCachedMemory();

}  // namespace chainerx
