// Loops of softmax: exported by norm/simd/softmax.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Softmax of `rows` contiguous rows of n > 0 elements.
template <typename T>
struct SoftmaxLoops {
    // Per row: the maximum, and log sum exp(x - max).
    void (*stats)(const T* x, int64_t rows, int64_t n, T* stats);
    // y = exp(x - max) / sum exp(x - max)
    void (*softmax)(const T* x, int64_t rows, int64_t n, T* y);
    // y = (x - max) - log_sum
    void (*log_softmax)(const T* x, int64_t rows, int64_t n, T* y);
    // y = scale[step * row] exp((x - max) - log_sum)
    void (*scaled)(const T* x, const T* stats, const T* scale, int64_t step, int64_t rows,
                   int64_t n, T* y);
};

using SoftmaxUnit = FloatLoops<SoftmaxLoops>;

const SoftmaxUnit& softmax_loops();

}  // namespace chainerx::native
