// Unblocked factorizations and triangular solves of a few columns: exported by
// linalg/simd/factor.cc. Matrices are row-major, rows ld elements apart, and real.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Maximum number of columns, or of rows of a triangle.
inline constexpr int64_t kFactorWidth = 16;

// Work space of `lu`, in elements, for m rows.
constexpr int64_t FactorWork(int64_t m) {
    constexpr int64_t kMaxLanes = 16;
    constexpr int64_t kApart = 16;  // avoids cache-set conflicts between columns
    return kFactorWidth * ((m + kMaxLanes - 1) / kMaxLanes * kMaxLanes + kApart);
}

template <typename T>
struct FactorLoopsOf {
    // The lower triangle of a, n x n, becomes L with L L^T = a; the rest of a is undefined. Returns
    // the number of leading rows that are positive definite.
    int64_t (*cholesky)(int64_t n, T* a, int64_t lda);
    // b = b a^-T, for the lower triangle of a, n x n; b has m rows.
    void (*from_right)(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // b = a^-1 b, for the lower triangle of a, m x m, with unit diagonal if `unit`; b has n
    // columns.
    void (*lower)(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // b = a^-1 b, for the upper triangle.
    void (*upper)(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // a = P L U in place, m x n with m >= n, as FactorLu; `work` is aligned to 64 bytes.
    void (*lu)(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots, T* work);
};

using FactorLoops = FloatLoops<FactorLoopsOf>;

const FactorLoops& factor_loops();

}  // namespace chainerx::native
