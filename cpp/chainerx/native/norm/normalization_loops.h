// Inner loops of normalizations: exported by norm/simd/normalization.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Data are either runs (`runs` of n elements each, `stride` apart) or columns (`rows` rows of
// `width` elements, `stride` apart; each column has its own values). Sums are taken in T over at
// most a few thousand elements, and in double beyond. They are stored in planes: all columns of the
// first sum, then all of the second, `plane` apart.
template <typename T>
struct NormalizationLoops {
    // sums[0], sums[1] = mean, sum of squared distances from it. Not `centered`: 0, sum of squares.
    void (*moments)(const T* x, int64_t runs, int64_t stride, int64_t n, bool centered,
                    double* sums);
    // The same for columns.
    void (*column_moments)(const T* x, int64_t rows, int64_t stride, int64_t width, double* sums,
                           int64_t plane);

    // sums[k] += sum of (x - center), g, g * (x - center)
    void (*dots)(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, T center,
                 double* sums);
    void (*column_dots)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width,
                        const T* center, double* sums, int64_t plane);

    // y = (x - p[0]) * p[1] + p[2]; each run has its own p, p_step apart.
    void (*affine)(const T* x, int64_t runs, int64_t stride, int64_t n, const T* p, int64_t p_step,
                   T* y);
    void (*column_affine)(const T* x, int64_t rows, int64_t stride, int64_t width, const T* p,
                          int64_t plane, T* y);

    // y = (x - p[0]) * p[1] + g * p[2] + p[3]
    void (*affine2)(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, const T* p,
                    int64_t p_step, T* y);
    void (*column_affine2)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width,
                           const T* p, int64_t plane, T* y);

    // One row, with gamma and beta per element. y = ((x - p[0]) * p[1] + p[2]) * gamma + beta
    void (*row)(const T* x, int64_t n, const T* p, const T* gamma, const T* beta, T* y);
    // sums[k] += sum of (x - center), g * gamma, g * gamma * (x - center)
    void (*row_dots)(const T* x, const T* g, const T* gamma, int64_t n, T center, double* sums);
    // For rows, `stride` apart, each with its own p, kRowParams apart: with d = x - p[0], ggamma +=
    // g * (d * p[1] + p[2]), gbeta += g, and unless gx is null, gx = g * gamma * p[1] + d * p[3] +
    // p[4].
    void (*row_grad)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t n, const T* p,
                     const T* gamma, T* ggamma, T* gbeta, T* gx);

    // sums = x if `is_first`, else sums += x; then x = 0.
    void (*flush)(T* x, int64_t n, bool is_first, double* sums);
};

constexpr int kRowParams = 5;

using NormalizationIsaLoops = FloatLoops<NormalizationLoops>;

const NormalizationIsaLoops& normalization_loops();

}  // namespace chainerx::native
