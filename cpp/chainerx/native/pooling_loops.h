// Loops of poolings over rows, as raw function pointers: what the unit isa/pooling.cc exports.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Rows of the input that the windows of one row of the output see, of which only whole windows are
// looked at: that of output i begins at data[r] + i * stride and is `width` long.
template <typename T>
struct PoolRows {
    static constexpr int kMost = 16;

    const T* data[kMost];
    int64_t first[kMost];  // the number of the row's first element in the window
    int count{0};
    int64_t width;
    int64_t stride;
    // Whether results of rows before these stand in the output, to go on from.
    bool resume{false};
};

template <typename T, typename Index>
using PoolMaxLoop = void (*)(const PoolRows<T>& rows, int64_t n, T* y, Index* index);

template <typename T>
struct PoolLoopsOf {
    // y[i] is the first maximum, index[i] its number.
    PoolMaxLoop<T, uint8_t> max_uint8;
    PoolMaxLoop<T, int64_t> max_int64;
    PoolMaxLoop<T, void> max;  // `index` is null
    // y[i] = (sum of the rows[..][i]) / divisor, for whole rows: width and stride don't count.
    void (*add_rows)(const PoolRows<T>& rows, int64_t n, T divisor, T* y);
    // y[i] = (sum of x[i * stride + t], t < width) / divisor
    void (*sum)(const T* x, int64_t width, int64_t stride, int64_t n, T divisor, T* y);
    // y[2 * i + t] = x[i], t < 2
    void (*twice)(const T* x, int64_t n, T* y);
    // y[2 * i + t] = x[i] if index[i] is first + t, else 0, t < 2
    void (*place)(const T* x, const uint8_t* index, int first, int64_t n, T* y);
};

struct PoolLoops {
    PoolLoopsOf<float> f32;
    PoolLoopsOf<double> f64;
};

}  // namespace chainerx::native
