// Copying adjacent bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace chainerx::native {

// memcpy of nbytes that don't overlap. From some kilobytes on, glibc's is one instruction, `rep
// movsb`, which takes 14 times as long on AMD's Zen 4 where the destination begins 1 to 15 bytes
// behind the source within a page (benchmarks/routines.py: roll). There it is given less at a time.
inline void CopyBytes(char* dst, const char* src, int64_t nbytes) {
    constexpr int64_t kPage = 4096;
    constexpr int64_t kPiece = 2048;
    const auto behind =
        (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) % kPage;
    if (nbytes > kPiece && behind - 1 < 15) [[unlikely]] {
        // By its address: compilers make that instruction of a call whose size is bounded.
        void* (*volatile copy)(void*, const void*, size_t) = &std::memcpy;
        for (int64_t i = 0; i < nbytes; i += kPiece) {
            copy(dst + i, src + i, static_cast<size_t>(std::min(kPiece, nbytes - i)));
        }
        return;
    }
    std::memcpy(dst, src, static_cast<size_t>(nbytes));
}

}  // namespace chainerx::native
