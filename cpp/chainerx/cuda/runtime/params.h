// Parameters of the kernels that devices launch by themselves, for the host and the device
// (cuda/runtime/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kCopyItems = 4;                                // of 16 bytes, by a thread
inline constexpr int kCopyBytes = kBlockThreads * kCopyItems * 16;  // by a block of threads

struct CopiedBlock {
    Ptr<const char> from;
    Ptr<char> to;
    int64_t nbytes;
    int64_t first_block;
};
struct WrittenWord {
    Ptr<uint64_t> to;
    uint64_t value;
};
// As many as the parameters of a kernel can hold.
struct BlocksParams {
    static constexpr int kMax = 100;
    static constexpr int kMaxWords = 40;
    static_assert(kMaxWords <= kBlockThreads);

    int count;
    int n_words;
    CopiedBlock arrays[kMax];
    WrittenWord words[kMaxWords];
};

}  // namespace chainerx::cuda
