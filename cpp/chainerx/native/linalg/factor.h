// Blocked factorizations of a square matrix: LU with partial pivoting, Cholesky, and triangular
// solves.
//
// All recurse on halves, so that nearly all work is in Gemm; the base cases are a few columns wide.
// Matrices are row-major, rows ld elements apart. Results don't depend on the number of threads, as
// Gemm's bits don't.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/gemm/blas.h"
#include "chainerx/native/linalg/factor_unblocked.h"
#include "chainerx/native/scratch.h"
#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native {

// c -= a b, or a b^H, where a is m x k and c is m x n.
template <typename T>
void SubtractProduct(bool adjoint_b, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
                     const T* b, int64_t ldb, T* c, int64_t ldc) {
    if (m == 0 || n == 0 || k == 0) return;
    const Scratch<T> minus{m * k};
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t p = 0; p < k; ++p) minus.data()[i * k + p] = -a[i * lda + p];
    }
    if (!kIsComplexNumber<T> || !adjoint_b) {
        Gemm(false, adjoint_b, m, n, k, minus.data(), k, b, ldb, c, ldc, true);
        return;
    }
    const Scratch<T> conjugate{n * k};
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t p = 0; p < k; ++p) conjugate.data()[j * k + p] = Conjugate(b[j * ldb + p]);
    }
    Gemm(false, true, m, n, k, minus.data(), k, conjugate.data(), k, c, ldc, true);
}

// b = a^-1 b, for the lower triangle of a, with unit diagonal if `unit`; b has n columns.
template <typename T>
void SolveLower(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (m > Narrow<T>::kWidth) {
        const int64_t half = m / 2;
        SolveLower(unit, half, n, a, lda, b, ldb);
        T* rest = b + half * ldb;
        SubtractProduct(false, m - half, n, half, a + half * lda, lda, b, ldb, rest, ldb);
        SolveLower(unit, m - half, n, a + half * (lda + 1), lda, rest, ldb);
        return;
    }
    internal::CheckInterrupt();
    Narrow<T>::Lower(unit, m, n, a, lda, b, ldb);
}

// b = a^-1 b, for the upper triangle of a.
template <typename T>
void SolveUpper(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (m > Narrow<T>::kWidth) {
        const int64_t half = m / 2;
        T* rest = b + half * ldb;
        SolveUpper(m - half, n, a + half * (lda + 1), lda, rest, ldb);
        SubtractProduct(false, half, n, m - half, a + half, lda, rest, ldb, b, ldb);
        SolveUpper(half, n, a, lda, b, ldb);
        return;
    }
    internal::CheckInterrupt();
    Narrow<T>::Upper(m, n, a, lda, b, ldb);
}

// b = b a^-H, for the lower triangle of a, n x n, with a real diagonal; b has m rows.
template <typename T>
void SolveLowerFromRight(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (n > Narrow<T>::kWidth) {
        const int64_t half = n / 2;
        SolveLowerFromRight(m, half, a, lda, b, ldb);
        SubtractProduct(true, m, n - half, half, b, ldb, a + half * lda, lda, b + half, ldb);
        SolveLowerFromRight(m, n - half, a + half * (lda + 1), lda, b + half, ldb);
        return;
    }
    internal::CheckInterrupt();
    Narrow<T>::FromRight(m, n, a, lda, b, ldb);
}

// a = P L U in place, m x n with m >= n: row i was swapped with pivots[i] before it was used; L has
// a unit diagonal. Columns without a pivot keep a zero there.
template <typename T>
void FactorLu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
    if (n > Narrow<T>::kWidth) {
        const int64_t half = n / 2;
        FactorLu(m, half, a, lda, pivots);
        T* right = a + half;
        for (int64_t i = 0; i < half; ++i) SwapRows(n - half, right, lda, i, pivots[i]);
        SolveLower(true, half, n - half, a, lda, right, lda);
        T* rest = right + half * lda;
        SubtractProduct(false, m - half, n - half, half, a + half * lda, lda, right, lda, rest,
                        lda);
        FactorLu(m - half, n - half, rest, lda, pivots + half);
        for (int64_t i = half; i < n; ++i) {
            pivots[i] += half;
            SwapRows(half, a, lda, i, pivots[i]);
        }
        return;
    }
    internal::CheckInterrupt();
    Narrow<T>::Lu(m, n, a, lda, pivots);
}

// a = P L U Q in place (full pivoting), n x n: row i was swapped with rows[i] and column i with
// columns[i] before they were used, so that each pivot is the largest remaining element. Once it is
// 0, so is the whole remainder: missing pivots come last.
template <typename T>
void FactorFully(int64_t n, T* a, int64_t* rows, int64_t* columns) {
    for (int64_t k = 0; k < n; ++k) {
        internal::CheckInterrupt();
        RealOf<T> size = -1;
        for (int64_t i = k; i < n; ++i) {
            for (int64_t j = k; j < n; ++j) {
                const RealOf<T> other = PivotSize(a[i * n + j]);
                if (other > size || (other != other && size == size)) {
                    rows[k] = i;
                    columns[k] = j;
                    size = other;
                }
            }
        }
        SwapRows(n, a, n, k, rows[k]);
        if (columns[k] != k) {
            for (int64_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + columns[k]]);
        }
        if (size == 0) continue;
        EliminateBelow(n, n, k, a, n);
    }
}

// The lower triangle of a becomes L with L L^H = a (Cholesky); elements above it are neither read
// nor kept, nor are the imaginary parts of the diagonal. Returns the number of leading rows that
// are positive definite.
template <typename T>
int64_t FactorCholesky(int64_t n, T* a, int64_t lda) {
    if (n > Narrow<T>::kWidth) {
        const int64_t half = n / 2;
        const int64_t done = FactorCholesky(half, a, lda);
        if (done < half) return done;
        T* below = a + half * lda;
        SolveLowerFromRight(n - half, half, a, lda, below, lda);
        SubtractProduct(true, n - half, n - half, half, below, lda, below, lda, below + half, lda);
        return half + FactorCholesky(n - half, below + half, lda);
    }
    internal::CheckInterrupt();
    return Narrow<T>::Cholesky(n, a, lda);
}

}  // namespace chainerx::native
