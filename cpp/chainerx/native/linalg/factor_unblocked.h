// Unblocked triangular solves and factorizations, the base cases of factor.h: a few columns. For
// real types these are the SIMD loops of linalg/simd/factor.cc; for complex ones they are here.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include "chainerx/native/linalg/factor_loops.h"
#include "chainerx/native/scratch.h"
#include "chainerx/native/strided/scalar_traits.h"

namespace chainerx::native {

void SwapRows(int64_t n, auto* a, int64_t lda, int64_t i, int64_t k) {
    if (i == k) return;
    for (int64_t j = 0; j < n; ++j) std::swap(a[i * lda + j], a[k * lda + j]);
}

// Eliminates column j: subtracts multiples of row j from the rows below, m rows and n columns in
// all. The multipliers go to column j.
template <typename T>
void EliminateBelow(int64_t m, int64_t n, int64_t j, T* a, int64_t lda) {
    const T* top = a + j * lda;
    const Divisor<T> divisor{top[j]};
    for (int64_t i = j + 1; i < m; ++i) {
        T* row = a + i * lda;
        const T factor = divisor.Divide(row[j]);
        row[j] = factor;
        for (int64_t p = j + 1; p < n; ++p) row[p] -= ProductOf(factor, top[p]);
    }
}

// a = P L U in place, row by row, as FactorLu.
template <typename T>
void FactorFewLu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
    for (int64_t j = 0; j < n; ++j) {
        int64_t pivot = j;
        RealOf<T> size = PivotSize(a[j * (lda + 1)]);
        for (int64_t i = j + 1; i < m; ++i) {
            const RealOf<T> other = PivotSize(a[i * lda + j]);
            if (other > size || other != other) {  // NaN must reach the result
                pivot = i;
                size = other;
            }
        }
        pivots[j] = pivot;
        SwapRows(n, a, lda, j, pivot);
        if (size == 0) continue;
        EliminateBelow(m, n, j, a, lda);
    }
}

// The members are those of FactorLoopsOf. Wider matrices than kWidth are halved first: our complex
// loops are slower than products.
template <typename T>
struct Narrow {
    static constexpr int64_t kWidth = kFactorWidth;

    static const FactorLoopsOf<T>& Loops() { return factor_loops().Of<T>(); }
    static int64_t Cholesky(int64_t n, T* a, int64_t lda) { return Loops().cholesky(n, a, lda); }
    static void FromRight(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
        Loops().from_right(m, n, a, lda, b, ldb);
    }
    static void Lower(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
        Loops().lower(unit, m, n, a, lda, b, ldb);
    }
    static void Upper(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
        Loops().upper(m, n, a, lda, b, ldb);
    }
    static void Lu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
        constexpr int64_t kMaxRows = 16;
        constexpr int64_t kOnStack = 64;
        if (m <= kMaxRows) {
            FactorFewLu(m, n, a, lda, pivots);
        } else if (m <= kOnStack) {
            alignas(64) T work[FactorWork(kOnStack)];
            Loops().lu(m, n, a, lda, pivots, work);
        } else {
            const Scratch<T> work{FactorWork(m)};
            Loops().lu(m, n, a, lda, pivots, work.data());
        }
    }
};

template <typename R>
struct Narrow<std::complex<R>> {
    using T = std::complex<R>;
    static constexpr int64_t kWidth = 8;

    // The lower triangle in column order: loops over a column have a constant length, and sums
    // don't wait for each other.
    struct Corner {
        T column[kWidth][kWidth]{};

        Corner(int64_t n, const T* a, int64_t lda) {
            for (int64_t i = 0; i < n; ++i) {
                for (int64_t j = 0; j <= i; ++j) column[j][i] = a[i * lda + j];
            }
        }
    };

    static int64_t Cholesky(int64_t n, T* a, int64_t lda) {
        Corner corner{n, a, lda};
        for (int64_t j = 0; j < n; ++j) {
            T* column = corner.column[j];
            const R diagonal = RealPart(column[j]);
            if (!(diagonal > 0)) return j;  // NaN is no pivot, either
            const R root = std::sqrt(diagonal);
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
    static void FromRight(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
        Corner corner{n, a, lda};
        for (T* column : corner.column) std::transform(column, column + n, column, Conjugate<T>);
        R inverse[kWidth];
        for (int64_t j = 0; j < n; ++j) inverse[j] = 1 / RealPart(corner.column[j][j]);
        constexpr int64_t kRows = 4;  // at once, to hide the latency of products
        for (int64_t i = 0; i < m; i += kRows) {
            const int64_t rows = m - i < kRows ? m - i : kRows;
            T part[kRows][kWidth]{};
            for (int64_t r = 0; r < rows; ++r) std::copy_n(b + (i + r) * ldb, n, part[r]);
            // The second half ignores what is left of the first.
            const auto take = [&]<int64_t kFrom>(int64_t end) {
                for (int64_t j = kFrom; j < end; ++j) {
                    const T* column = corner.column[j];
                    for (T* row : {part[0], part[1], part[2], part[3]}) {
                        const T x = row[j] * inverse[j];
                        for (int64_t q = kFrom; q < kWidth; ++q) row[q] -= ProductOf(x, column[q]);
                        row[j] = x;
                    }
                }
            };
            constexpr int64_t kHalf = kWidth / 2;
            take.template operator()<0>(std::min(n, kHalf));
            take.template operator()<kHalf>(n);
            for (int64_t r = 0; r < rows; ++r) std::copy_n(part[r], n, b + (i + r) * ldb);
        }
    }
    static void Lower(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
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
    static void Upper(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
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
    static void Lu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots) {
        FactorFewLu(m, n, a, lda, pivots);
    }
};

}  // namespace chainerx::native
