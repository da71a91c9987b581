// What a mask keeps, side by side: the loops that the unit index/simd/compress.cc exports. Any byte
// of a mask but 0 is true: foreign memory may have others than 1.
#pragma once

#include <bit>
#include <cstdint>

namespace chainerx::native {

struct CompressLoops {
    // How many of the n bytes are true.
    int64_t (*count)(const uint8_t* mask, int64_t n);
    // Writes begin + i for each i that is true, the first `room` ones; returns how many. What is
    // behind them, within the room, may be overwritten.
    int64_t (*places)(const uint8_t* mask, int64_t n, int64_t begin, int64_t* out, int64_t room);
    // The same with element i of x, in place of i: for items of 1, 2, 4, 8 and 16 bytes. x and
    // `out` have no memory in common.
    int64_t (*items[5])(const uint8_t* mask, int64_t n, const void* x, void* out, int64_t room);

    auto ItemsOf(int64_t item_size) const {
        return items[std::countr_zero(static_cast<uint64_t>(item_size))];
    }
};

const CompressLoops& compress_loops();

}  // namespace chainerx::native
