// Memory above the small pool: freed blocks are kept and reused, since fresh pages cost more than
// most kernels; the largest lie on huge pages. Above the limit, the sizes that have not been used
// for the longest time make room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

class MemoryCounter;

// Memory of arrays. Aligned to 64 bytes. Gives the kept blocks back and tries again before
// OutOfMemoryError.
void* AllocLarge(size_t size, MemoryCounter& counter);
void FreeLarge(void* p, size_t size, MemoryCounter& counter) noexcept;

// Memory that a kernel works in, from any of its threads: counted as such, for the device on which
// the thread has last taken memory, as for the results of the kernel.
CX_API void* AllocLarge(size_t size);
CX_API void FreeLarge(void* p, size_t size) noexcept;

struct MemoryInfo {
    int64_t in_use;  // bytes in blocks handed out
    int64_t cached;  // bytes kept for reuse
    int64_t limit;   // most bytes that are kept; $CHAINERX_CACHE_LIMIT sets it
};
CX_API MemoryInfo GetMemoryInfo();
CX_API void SetCacheLimit(int64_t bytes);
CX_API void ReleaseCachedMemory();

}  // namespace chainerx
