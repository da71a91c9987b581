// Inner loops of direct (depthwise) convolution: rows of windows that are shifted copies of each
// other. conv/simd/depthwise.cc has those for floats.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Rows of adjacent elements.
template <typename T>
struct DepthwiseRows {
    T* data;
    int64_t step;  // stride between rows
};

template <typename T>
struct DepthwiseLoops {
    // Copies rows of n elements.
    void (*copy)(DepthwiseRows<const T> x, DepthwiseRows<T> y, int64_t n_rows, int64_t n);
    // Separates n pairs.
    void (*split)(const T* x, int64_t n, T* first, T* second);
    // y[r, i] = bias + the sum of w[t] * x[r, offsets[t] + i] over the taps t, clipped if there
    // are limits, a low and a high one. It reads whole vectors of x.
    void (*sum)(DepthwiseRows<const T> x, const int64_t* offsets, const T* w, int64_t n_taps,
                T bias, const T* limits, DepthwiseRows<T> y, int64_t n_rows, int64_t n);
    // sums[t * width + i % width] += y[r, i] * x[r, offsets[t] + i], in the order of r and i.
    void (*products)(DepthwiseRows<const T> x, const int64_t* offsets, int64_t n_taps,
                     DepthwiseRows<const T> y, int64_t n_rows, int64_t n, T* sums);
    int width;
};

// A window of 3 x 3 over one plane, of stride 1 or 2, padded by zeros.
struct DepthwiseWindow {
    int64_t stride;
    int64_t before_row;  // pads
    int64_t before_column;
    const float* x;  // rows of adjacent elements, x_step apart
    int64_t x_step;
    int64_t rows;
    int64_t columns;
    const float* w;
    float bias;
    const float* limits;  // low and high, or null
    float* y;
    int64_t y_step;
    int64_t y_rows;
    int64_t y_columns;
};

struct DepthwiseUnit : FloatLoops<DepthwiseLoops> {
    // Null where instructions can't load a part of a vector that begins outside of the memory.
    void (*window)(const DepthwiseWindow& p);
};

const DepthwiseUnit& depthwise_loops();

}  // namespace chainerx::native
