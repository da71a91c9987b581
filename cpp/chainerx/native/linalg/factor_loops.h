// What factors of matrices end in: loops over a few columns, which the unit linalg/simd/factor.cc
// exports. Matrices are row-major, rows ld elements apart, and real.
#pragma once

#include <cstdint>

namespace chainerx::native {

// The most columns, or rows of a triangle, that these loops take.
inline constexpr int64_t kFactorWidth = 16;

// How many elements `lu` works with, for m rows.
constexpr int64_t FactorWork(int64_t m) {
    constexpr int64_t kMostLanes = 16;
    constexpr int64_t kApart = 16;  // columns whose places differ by a power of 2 share cache lines
    return kFactorWidth * ((m + kMostLanes - 1) / kMostLanes * kMostLanes + kApart);
}

template <typename T>
struct FactorLoopsOf {
    // The lower triangle of a, n x n, becomes L with L L^T = a; nothing else is kept of a. Returns
    // how many leading rows are positive definite.
    int64_t (*cholesky)(int64_t n, T* a, int64_t lda);
    // b = b a^-T, where the lower triangle of a, n x n, counts; b has m rows.
    void (*from_right)(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // b = a^-1 b, where the lower triangle of a, m x m, counts, with ones on its diagonal if
    // `unit`; b has n columns.
    void (*lower)(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // b = a^-1 b, where the upper triangle counts.
    void (*upper)(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb);
    // a = P L U in place, m x n with m >= n, as FactorLu; `work` is aligned to 64 bytes.
    void (*lu)(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots, T* work);
};

struct FactorLoops {
    FactorLoopsOf<float> f32;
    FactorLoopsOf<double> f64;

    template <typename T>
    const FactorLoopsOf<T>& Of() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return f32;
        } else {
            return f64;
        }
    }
};

const FactorLoops& factor_loops();

}  // namespace chainerx::native
