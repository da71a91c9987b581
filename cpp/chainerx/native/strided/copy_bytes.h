// Copies adjacent bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/native/strided/prefetch.h"
#include "chainerx/native/strided/transpose_loops.h"

namespace chainerx::native {

// memcpy of nbytes that don't overlap. From some kilobytes on, glibc uses one instruction, `rep
// movsb`. On AMD's Zen 4 that takes 14 times as long if the destination begins 1 to 15 bytes after
// the source within a page, and, from L2 on, up to a third more if the two are aligned differently
// within a cache line (benchmarks/indexing.py: roll, pad).
inline void CopyBytes(char* dst, const char* src, int64_t nbytes) {
    constexpr uint64_t kLine = 64;
    constexpr uint64_t kPage = 4096;
    constexpr int64_t kMinBytes = 2048;
    constexpr int64_t kMinUnaligned = 64 << 10;
    const uint64_t behind = reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src);
    const bool is_worst = behind % kPage - 1 < 15;
    if (nbytes > kMinBytes &&
        (is_worst || (nbytes > kMinUnaligned && behind % kLine != 0 && !prefetches_ahead)))
        [[unlikely]] {
        transpose_loops().copy(dst, src, nbytes);
    } else {
        std::memcpy(dst, src, static_cast<size_t>(nbytes));
    }
}

}  // namespace chainerx::native
