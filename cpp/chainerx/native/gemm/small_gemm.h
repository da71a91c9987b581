// Small GEMM and GEMV, which end before BLAS would have begun (gemm/simd/small_gemm.cc). The order
// of summation follows from k alone.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

template <typename T>
struct SmallGemmLoopsOf {
    // c = a b, or c += a b: m x n elements of k products each. Element (i, q) of a is at i * a_row
    // + q * a_column, (q, j) of b at q * b_row + j, (i, j) of c at i * c_row + j.
    void (*product)(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_column,
                    const T* b, int64_t b_row, T* c, int64_t c_row, bool accumulate);
    // y[i * y_step] = the sum of a[i * a_step + q] b[i * b_step + q] over q < k
    void (*dots)(int64_t count, int64_t k, const T* a, int64_t a_step, const T* b, int64_t b_step,
                 T* y, int64_t y_step);
    // The sum of a[q] b[q] over q < k
    T (*dot)(int64_t k, const T* a, const T* b);
    // y = x * factor, or y += x * factor
    void (*scale)(const T* x, T factor, T* y, int64_t n, bool add);
};

using SmallGemmLoops = FloatLoops<SmallGemmLoopsOf>;

const SmallGemmLoops& small_gemm_loops();

}  // namespace chainerx::native
