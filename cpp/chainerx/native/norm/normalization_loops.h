// The loops of normalizations, as raw function pointers: what the unit norm/simd/normalization.cc
// exports.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Data are runs: `runs` of them, of n elements each, that begin `stride` elements apart; or
// columns: `rows` rows of `width` elements, `stride` apart, each column with numbers of its own.
// Sums are taken in T over a few thousand elements at most, and in double beyond. What they add up
// to stands in planes: all columns of the first sum, then all of the second, `plane` apart.
template <typename T>
struct NormalizationLoops {
    // sums[0], sums[1] = mean, sum of squared distances from it. Not `centered`: 0, sum of squares.
    void (*moments)(const T* x, int64_t runs, int64_t stride, int64_t n, bool centered,
                    double* sums);
    // The same of columns, which had `before` rows so far.
    void (*column_moments)(const T* x, int64_t rows, int64_t stride, int64_t width, int64_t before,
                           double* sums, int64_t plane);

    // sums[k] += sum of (x - center), g, g * (x - center)
    void (*dots)(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, T center,
                 double* sums);
    void (*column_dots)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width,
                        const T* center, double* sums, int64_t plane);

    // y = (x - p[0]) * p[1] + p[2], where the p of the next run stand p_step further.
    void (*affine)(const T* x, int64_t runs, int64_t stride, int64_t n, const T* p, int64_t p_step,
                   T* y);
    void (*column_affine)(const T* x, int64_t rows, int64_t stride, int64_t width, const T* p,
                          int64_t plane, T* y);

    // y = (x - p[0]) * p[1] + g * p[2] + p[3]
    void (*affine2)(const T* x, const T* g, int64_t runs, int64_t stride, int64_t n, const T* p,
                    int64_t p_step, T* y);
    void (*column_affine2)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t width,
                           const T* p, int64_t plane, T* y);

    // Of one row, with numbers of each of its places.
    // y = ((x - p[0]) * p[1] + p[2]) * gamma + beta
    void (*row)(const T* x, int64_t n, const T* p, const T* gamma, const T* beta, T* y);
    // sums[k] += sum of (x - center), g * gamma, g * gamma * (x - center)
    void (*row_dots)(const T* x, const T* g, const T* gamma, int64_t n, T center, double* sums);
    // Of rows, `stride` apart: with d = x - p[0], where the p of the next row stand kRowParams
    // further, ggamma += g * (d * p[1] + p[2]), gbeta += g, and unless gx is null,
    // gx = g * gamma * p[1] + d * p[3] + p[4].
    void (*row_grad)(const T* x, const T* g, int64_t rows, int64_t stride, int64_t n, const T* p,
                     const T* gamma, T* ggamma, T* gbeta, T* gx);

    // sums += x, or where `is_first` sums = x; and x = 0.
    void (*flush)(T* x, int64_t n, bool is_first, double* sums);
};

constexpr int kRowParams = 5;

struct NormalizationIsaLoops {
    NormalizationLoops<float> f32;
    NormalizationLoops<double> f64;
};

const NormalizationIsaLoops& normalization_loops();

}  // namespace chainerx::native
