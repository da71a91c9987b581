// Compress: copies the elements that a mask selects. Loops exported by index/simd/compress.cc. Any
// byte of a mask but 0 is true: foreign memory may have others than 1.
#pragma once

#include <bit>
#include <cstdint>

namespace chainerx::native {

struct CompressLoops {
    // Counts the true ones of n bytes.
    int64_t (*count)(const uint8_t* mask, int64_t n);
    // Writes begin + i for each true i, up to `room` of them; returns the number written. The rest
    // of the room may be overwritten.
    int64_t (*places)(const uint8_t* mask, int64_t n, int64_t begin, int64_t* out, int64_t room);
    // The same with element i of x instead of i, for items of 1, 2, 4, 8 and 16 bytes. x and `out`
    // must not overlap.
    int64_t (*items[5])(const uint8_t* mask, int64_t n, const void* x, void* out, int64_t room);

    auto ItemsOf(int64_t item_size) const {
        return items[std::countr_zero(static_cast<uint64_t>(item_size))];
    }
};

const CompressLoops& compress_loops();

}  // namespace chainerx::native
