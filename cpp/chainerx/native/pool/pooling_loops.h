// Loops of poolings over rows, as raw function pointers: what the unit pool/simd/pooling.cc
// exports.
#pragma once

#include <cstdint>

namespace chainerx::native {

// What windows of some rows of the output see of the input, whole windows only. The first of these
// rows sees the rows data[0], ..., data[count - 1] of the input, each next one those that come
// `in_step` later. There, the window of output i begins at data[r] + i * stride.
template <typename T>
struct PoolRows {
    static constexpr int kMost = 16;

    const T* data[kMost];
    int64_t first[kMost];  // the number of the row's first element in the window
    int count{0};
    int64_t width;  // of a window
    int64_t stride;
    int64_t out_rows{1};
    int64_t in_step{0};
    int64_t out_step{0};  // between rows of the output
    // Whether results of rows before these stand in the output, to go on from.
    bool resume{false};
};

// For n elements of each row of the output.
template <typename T, typename Index>
using PoolMaxLoop = void (*)(const PoolRows<T>& rows, int64_t n, T* y, Index* index);

template <typename T>
struct PoolLoopsOf {
    // y is the first maximum, `index` its number.
    PoolMaxLoop<T, uint8_t> max_uint8;
    PoolMaxLoop<T, int64_t> max_int64;
    PoolMaxLoop<T, void> max;  // `index` is null
    // y is the sum, divided. Does not resume.
    void (*sum)(const PoolRows<T>& rows, int64_t n, T divisor, T* y);
    // y[i] = (sum of data[r][i]) / divisor: of one row, whatever the windows.
    void (*add_rows)(const PoolRows<T>& rows, int64_t n, T divisor, T* y);
    // Of each row of n elements, so many copies of one with x / divisor twice for each x.
    void (*twice)(const T* x, int64_t rows, int64_t n, int64_t copies, T divisor, T* y);
    // Of each of `rows` elements, `n` copies of x / divisor.
    void (*repeat)(const T* x, int64_t rows, int64_t n, T divisor, T* y);
    // Of rows of n elements x, two rows of 2 n + rest, which are 0 but for the places 0 to 3 in
    // blocks of four that `index` names.
    void (*place)(const T* x, const uint8_t* index, int64_t rows, int64_t n, int64_t rest, T* y);
};

struct PoolLoops {
    PoolLoopsOf<float> f32;
    PoolLoopsOf<double> f64;
};

}  // namespace chainerx::native
