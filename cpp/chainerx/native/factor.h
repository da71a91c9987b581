// Factors of one square matrix: LU with row interchanges, Cholesky, and solving with triangles.
//
// All recur on halves, so that nearly all work is in products, Gemm's; what is left at the end is a
// few columns wide. Matrices are row-major, rows ld elements apart. Nothing depends on the number
// of threads, as Gemm's bits do not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/blas.h"
#include "chainerx/native/field.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

// How wide what is left may be: complex numbers are slower in loops of ours than in products.
template <typename T>
inline constexpr int64_t kNarrow = kIsComplexNumber<T> ? 8 : 16;

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

// b = a^-1 b, where the lower triangle of a counts, with ones on its diagonal if `unit`; b has n
// columns.
template <typename T>
void SolveLower(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (m > kNarrow<T>) {
        const int64_t half = m / 2;
        SolveLower(unit, half, n, a, lda, b, ldb);
        T* rest = b + half * ldb;
        SubtractProduct(false, m - half, n, half, a + half * lda, lda, b, ldb, rest, ldb);
        SolveLower(unit, m - half, n, a + half * (lda + 1), lda, rest, ldb);
        return;
    }
    internal::CheckInterrupt();
    for (int64_t i = 0; i < m; ++i) {
        T* row = b + i * ldb;
        for (int64_t p = 0; p < i; ++p) {
            const T factor = a[i * lda + p];
            const T* above = b + p * ldb;
            for (int64_t j = 0; j < n; ++j) row[j] -= ProductOf(factor, above[j]);
        }
        if (unit) continue;
        const Divisor<T> pivot{a[i * (lda + 1)]};
        for (int64_t j = 0; j < n; ++j) row[j] = pivot.Divide(row[j]);
    }
}

// b = a^-1 b, where the upper triangle of a counts.
template <typename T>
void SolveUpper(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (m > kNarrow<T>) {
        const int64_t half = m / 2;
        T* rest = b + half * ldb;
        SolveUpper(m - half, n, a + half * (lda + 1), lda, rest, ldb);
        SubtractProduct(false, half, n, m - half, a + half, lda, rest, ldb, b, ldb);
        SolveUpper(half, n, a, lda, b, ldb);
        return;
    }
    internal::CheckInterrupt();
    for (int64_t i = m - 1; i >= 0; --i) {
        T* row = b + i * ldb;
        for (int64_t p = i + 1; p < m; ++p) {
            const T factor = a[i * lda + p];
            const T* below = b + p * ldb;
            for (int64_t j = 0; j < n; ++j) row[j] -= ProductOf(factor, below[j]);
        }
        const Divisor<T> pivot{a[i * (lda + 1)]};
        for (int64_t j = 0; j < n; ++j) row[j] = pivot.Divide(row[j]);
    }
}

// The lower triangle of a narrow matrix with its columns side by side: loops over a column have
// always the same length, and no sum waits for the one before.
template <typename T, int64_t kWidth = kNarrow<T>>
struct Corner {
    T column[kWidth][kWidth]{};

    Corner(int64_t n, const T* a, int64_t lda) {
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j <= i; ++j) column[j][i] = a[i * lda + j];
        }
    }
};

// b = b a^-H, where the lower triangle of a, n x n, counts, with a real diagonal; b has m rows.
template <typename T>
void SolveLowerFromRight(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    if (n > kNarrow<T>) {
        const int64_t half = n / 2;
        SolveLowerFromRight(m, half, a, lda, b, ldb);
        SubtractProduct(true, m, n - half, half, b, ldb, a + half * lda, lda, b + half, ldb);
        SolveLowerFromRight(m, n - half, a + half * (lda + 1), lda, b + half, ldb);
        return;
    }
    internal::CheckInterrupt();
    Corner<T> corner{n, a, lda};
    if constexpr (kIsComplexNumber<T>) {
        for (T* column : corner.column) std::transform(column, column + n, column, Conjugate<T>);
    }
    RealOf<T> inverse[kNarrow<T>];
    for (int64_t j = 0; j < n; ++j) inverse[j] = 1 / RealPart(corner.column[j][j]);
    constexpr int64_t kRows = 4;  // at once, for a product waits for the one before
    for (int64_t i = 0; i < m; i += kRows) {
        const int64_t rows = m - i < kRows ? m - i : kRows;
        T part[kRows][kNarrow<T>]{};
        for (int64_t r = 0; r < rows; ++r) std::copy_n(b + (i + r) * ldb, n, part[r]);
        // What is left of the first half does not count in the second.
        const auto take = [&]<int64_t kFrom>(int64_t end) {
            for (int64_t j = kFrom; j < end; ++j) {
                const T* column = corner.column[j];
                for (T* row : {part[0], part[1], part[2], part[3]}) {
                    const T x = row[j] * inverse[j];
                    for (int64_t q = kFrom; q < kNarrow<T>; ++q) row[q] -= ProductOf(x, column[q]);
                    row[j] = x;
                }
            }
        };
        constexpr int64_t kHalf = kNarrow<T> / 2;
        take.template operator()<0>(std::min(n, kHalf));
        take.template operator()<kHalf>(n);
        for (int64_t r = 0; r < rows; ++r) std::copy_n(part[r], n, b + (i + r) * ldb);
    }
}

template <typename T>
void SwapRows(int64_t n, T* a, int64_t lda, int64_t i, int64_t k) {
    if (i == k) return;
    for (int64_t j = 0; j < n; ++j) std::swap(a[i * lda + j], a[k * lda + j]);
}

// a = P L U in place, m x n with m >= n: row i was swapped with pivots[i] before it was used, and L
// has ones on its diagonal. Columns without a pivot keep a zero there.
template <typename T>
void FactorLu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
    if (n > kNarrow<T>) {
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
    for (int64_t j = 0; j < n; ++j) {
        int64_t pivot = j;
        RealOf<T> size = PivotSize(a[j * (lda + 1)]);
        for (int64_t i = j + 1; i < m; ++i) {
            const RealOf<T> other = PivotSize(a[i * lda + j]);
            if (other > size || other != other) {  // nan is to be seen in the result
                pivot = i;
                size = other;
            }
        }
        pivots[j] = pivot;
        SwapRows(n, a, lda, j, pivot);
        if (size == 0) continue;
        const T* top = a + j * lda;
        const Divisor<T> divisor{top[j]};
        for (int64_t i = j + 1; i < m; ++i) {
            T* row = a + i * lda;
            const T factor = divisor.Divide(row[j]);
            row[j] = factor;
            for (int64_t p = j + 1; p < n; ++p) row[p] -= ProductOf(factor, top[p]);
        }
    }
}

// a = P L U Q in place, n x n: row i was swapped with rows[i] and column i with columns[i] before
// they were used, so that each pivot is the largest element that is left. Once that is 0, so is all
// that is left: pivots that there are none of are the last ones.
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
        const T* top = a + k * n;
        const Divisor<T> divisor{top[k]};
        for (int64_t i = k + 1; i < n; ++i) {
            T* row = a + i * n;
            const T factor = divisor.Divide(row[k]);
            row[k] = factor;
            for (int64_t j = k + 1; j < n; ++j) row[j] -= ProductOf(factor, top[j]);
        }
    }
}

template <typename T, int64_t kWidth>
int64_t FactorCorner(int64_t n, T* a, int64_t lda) {
    internal::CheckInterrupt();
    Corner<T, kWidth> corner{n, a, lda};
    for (int64_t j = 0; j < n; ++j) {
        T* column = corner.column[j];
        const RealOf<T> diagonal = RealPart(column[j]);
        if (!(diagonal > 0)) return j;  // nan is none, either
        const RealOf<T> root = std::sqrt(diagonal);
        for (int64_t q = 0; q < kWidth; ++q) column[q] /= root;
        for (int64_t k = j + 1; k < n; ++k) {
            T* other = corner.column[k];
            const T factor = Conjugate(column[k]);
            for (int64_t q = 0; q < kWidth; ++q) other[q] -= ProductOf(factor, column[q]);
        }
        column[j] = root;
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) a[i * lda + j] = corner.column[j][i];
    }
    return n;
}

// The lower triangle of a becomes L with L L^H = a; what is above it is neither read nor kept, nor
// are the imaginary parts of the diagonal.
// Returns how many leading rows are positive definite.
template <typename T>
int64_t FactorCholesky(int64_t n, T* a, int64_t lda) {
    if (n > kNarrow<T>) {
        const int64_t half = n / 2;
        const int64_t done = FactorCholesky(half, a, lda);
        if (done < half) return done;
        T* below = a + half * lda;
        SolveLowerFromRight(n - half, half, a, lda, below, lda);
        SubtractProduct(true, n - half, n - half, half, below, lda, below, lda, below + half, lda);
        return half + FactorCholesky(n - half, below + half, lda);
    }
    constexpr int64_t kSmall = kNarrow<T> / 2;
    return n <= kSmall ? FactorCorner<T, kSmall>(n, a, lda)
                       : FactorCorner<T, kNarrow<T>>(n, a, lda);
}

}  // namespace chainerx::native
