// Loops of single routines, as raw function pointers: what the unit isa/rows.cc exports.
#pragma once

#include <cstdint>

namespace chainerx::native {

// One row of a normalized exponential, of at least one element.
template <typename T>
struct SoftmaxLoops {
    // Sets the maximum, and the sum of exp(x - max).
    void (*stats)(const T* x, int64_t n, T* max, T* sum);
    // y = exp(x - max) / sum exp(x - max)
    void (*softmax)(const T* x, T* y, int64_t n);
    // y = (x - max) - log_sum
    void (*log_softmax)(const T* x, T max, T log_sum, T* y, int64_t n);
    // y = scale exp((x - max) - log_sum)
    void (*scaled)(const T* x, T max, T log_sum, T scale, T* y, int64_t n);
};

// The numbers of the Philox blocks first, ..., first + n - 1 (native/random.h): 16 bytes of each.
template <typename T>
struct RandomLoops {
    // In [0, 1).
    void (*uniform)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
    void (*normal)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
};

template <typename T>
struct RowLoopsOf {
    SoftmaxLoops<T> softmax;
    RandomLoops<T> random;
    // y = x * factor, or y += x * factor
    void (*scale)(const T* x, T factor, T* y, int64_t n, bool add);
};

struct RowLoops {
    RowLoopsOf<float> f32;
    RowLoopsOf<double> f64;
};

}  // namespace chainerx::native
