// Copies of blocks of bytes, and writes of words, that do not overlap.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/block.h"
#include "chainerx/cuda/device/lists.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/runtime/params.h"

namespace chainerx::cuda {

// Copies n bytes by a block of threads; both addresses are multiples of the size of T.
template <typename T>
inline void CopyPart(const char* from, char* to, int64_t n) {
    const int64_t items = n / static_cast<int64_t>(sizeof(T));
#pragma unroll 4
    for (int64_t i = threadIdx.x; i < items; i += kBlockThreads) {
        reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[i];
    }
    for (int64_t i = items * static_cast<int64_t>(sizeof(T)) + threadIdx.x; i < n;
         i += kBlockThreads) {
        to[i] = from[i];
    }
}

inline void WriteBlocks(const BlocksParams& p) {
    if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < p.n_words) {
        const WrittenWord& word = p.words[threadIdx.x];
        *At<uint64_t>(word.to) = word.value;
    }
    if (p.count == 0) return;
    const CopiedBlock& block = p.arrays[FindArray(p)];
    const int64_t first = (blockIdx.x - block.first_block) * kCopyBytes;
    const int64_t left = block.nbytes - first;
    const int64_t n = left < kCopyBytes ? left : kCopyBytes;
    const char* const from = At<const char>(block.from, first);
    char* const to = At<char>(block.to, first);
    const auto addresses = reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to);
    if (addresses % sizeof(Bytes16) == 0) {
        CopyPart<Bytes16>(from, to, n);
    } else if (addresses % sizeof(uint32_t) == 0) {
        CopyPart<uint32_t>(from, to, n);
    } else {
        CopyPart<char>(from, to, n);
    }
}

}  // namespace chainerx::cuda
