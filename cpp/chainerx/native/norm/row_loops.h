// Loops of softmax, random numbers, CTC and dropout: exported by norm/simd/rows.cc.
#pragma once

#include <cstdint>
#include <type_traits>

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

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// Random numbers from the Philox blocks first, ..., first + n - 1 (native/random/random.h), 16
// bytes of each.
template <typename T>
struct RandomLoops {
    // Uniform in [0, 1).
    void (*uniform)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
    void (*normal)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out);
    // Uniform unsigned integers of the same width.
    void (*bits)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, BitsOf<T>* out);
};

// Log-space alpha recursion (forward pass) of CTC: state s is entered from s, s - 1, and s - 2 if
// skip[s] is 0 and not -inf; the first step is in state 0 or 1. Rows of x (the score of each state
// in a step) and of y are `stride` apart. States begin at kLatticeLead; padding on both sides is
// -inf in x and skip, up to a multiple of kLatticeLanes after the lead.
inline constexpr int64_t kLatticeLead = 2;
inline constexpr int64_t kLatticeLanes = 16;
template <typename T>
struct LatticeLoops {
    // Fills rows begin, ..., end - 1 of y. Each row is normalized by the maximum of the row before,
    // cumulatively; returns the sum of the offsets of these rows.
    double (*weights)(const T* x, const T* skip, int64_t begin, int64_t end, int64_t stride, T* y);
};

template <typename T>
struct RowLoopsOf {
    SoftmaxLoops<T> softmax;
    LatticeLoops<T> lattice;
    RandomLoops<T> random;
    // Dropout: y = x * scale, or x * 0 if a random number is below `threshold`, over n groups of
    // eight Philox blocks of 32 numbers in total; the last `missing` elements do not exist.
    void (*dropout)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, int64_t missing,
                    uint32_t threshold, T scale, const T* x, T* y);
    // y = x * factor, or y += x * factor
    void (*scale)(const T* x, T factor, T* y, int64_t n, bool add);
};

struct RowLoops {
    RowLoopsOf<float> f32;
    RowLoopsOf<double> f64;
};

}  // namespace chainerx::native
