// Pooling loops over rows: exported by pool/simd/pooling.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// The input rows that the windows of some output rows cover, complete windows only. The first
// output row covers the input rows data[0], ..., data[count - 1], each next one those `in_step`
// later. The window of output i begins at data[r] + i * stride.
struct PoolRows {
    static constexpr int kMax = 16;

    const void* data[kMax];
    int64_t first[kMax];  // index of the row's first element in the window
    int count{0};
    int64_t width{0};  // width of a window
    int64_t stride{0};
    int64_t out_rows{1};
    int64_t in_step{0};
    int64_t out_step{0};  // between output rows
    // Whether the output holds results of earlier rows, from which to continue.
    bool resume{false};

    template <typename T>
    const T* row(int r) const {
        return static_cast<const T*>(data[r]);
    }
};

// Handles n elements of each output row: y is the maximum, `index` its first index in the window.
// Each loop has one dtype, and indices of uint8 or int64, or none.
using PoolMaxLoop = void (*)(const PoolRows& rows, int64_t n, void* y, void* index);

template <typename T>
struct PoolLoopsOf {
    PoolMaxLoop max_uint8;
    PoolMaxLoop max_int64;
    PoolMaxLoop max;  // `index` is null
    // y is the sum, divided. It ignores `resume`.
    void (*sum)(const PoolRows& rows, int64_t n, T divisor, T* y);
    // y[i] = (sum of data[r][i] over r) / divisor, for one output row, independent of windows.
    void (*add_rows)(const PoolRows& rows, int64_t n, T divisor, T* y);
    // Nearest-neighbor upsampling by 2: writes x / divisor twice along each row of n elements, and
    // each row `copies` times.
    void (*twice)(const T* x, int64_t rows, int64_t n, int64_t copies, T divisor, T* y);
    // Broadcasts x / divisor to `n` elements, for each of `rows` elements.
    void (*repeat)(const T* x, int64_t rows, int64_t n, T divisor, T* y);
    // Unpooling of 2 x 2 windows: each row of n elements becomes two rows of 2 n + rest, zero
    // except at the position 0 to 3 in each 2 x 2 block that `index` gives.
    void (*place)(const T* x, const uint8_t* index, int64_t rows, int64_t n, int64_t rest, T* y);
};

using PoolLoops = FloatLoops<PoolLoopsOf>;

}  // namespace chainerx::native
