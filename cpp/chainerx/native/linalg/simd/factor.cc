// Unblocked factorizations and solves with small triangles.
//
// Each lane handles its own row or column, and sums are in a fixed order, so that all instruction
// sets give the same bits, except that the baseline has no fused multiply-add.
#include "chainerx/native/linalg/factor_loops.h"

#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/strided/simd/transpose_square.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr int64_t kLanes = Batch<T>::size;

// Transposes: element (r, c) of src goes to (c, r) of dst.
template <typename T>
inline void Transpose(int64_t rows, int64_t columns, const T* src, int64_t src_row, T* dst,
                      int64_t dst_row) {
    constexpr int64_t kSide = Square<T>::size;
    const auto one_by_one = [&](int64_t r_begin, int64_t r_end, int64_t c_begin, int64_t c_end) {
        for (int64_t r = r_begin; r < r_end; ++r) {
            for (int64_t c = c_begin; c < c_end; ++c) dst[c * dst_row + r] = src[r * src_row + c];
        }
    };
    const int64_t whole_rows = rows / kSide * kSide;
    const int64_t whole_columns = columns / kSide * kSide;
    for (int64_t r = 0; r < whole_rows; r += kSide) {
        for (int64_t c = 0; c < whole_columns; c += kSide) {
            constexpr int64_t kSize = sizeof(T);
            TransposeSquare<T>(reinterpret_cast<const char*>(src + r * src_row + c),
                               src_row * kSize, reinterpret_cast<char*>(dst + c * dst_row + r),
                               dst_row * kSize);
        }
    }
    one_by_one(0, whole_rows, whole_columns, columns);
    one_by_one(whole_rows, rows, 0, columns);
}

template <typename T>
inline Batch<T> MinusProduct(const Batch<T>& x, T factor, const Batch<T>& y) {
    return xsimd::fnma(Batch<T>(factor), y, x);
}

// Solves a triangle with one right-hand side per lane, in place in x.
template <typename T, typename Pivot>
inline void Forward(int64_t n, const T* a, int64_t lda, Batch<T>* x, const Pivot& by_pivot) {
    for (int64_t i = 0; i < n; ++i) {
        const T* row = a + i * lda;
        Batch<T> sum = x[i];
        for (int64_t p = 0; p < i; ++p) sum = MinusProduct(sum, row[p], x[p]);
        x[i] = by_pivot(sum, i);
    }
}

template <typename T>
inline void Backward(int64_t n, const T* a, int64_t lda, Batch<T>* x) {
    for (int64_t i = n - 1; i >= 0; --i) {
        const T* row = a + i * lda;
        Batch<T> sum = x[i];
        for (int64_t p = i + 1; p < n; ++p) sum = MinusProduct(sum, row[p], x[p]);
        x[i] = sum / Batch<T>(row[i]);
    }
}

// Calls solve(x) for the m rows of b, with one column of b per lane.
template <typename T, typename F>
inline void ForColumns(int64_t m, int64_t n, T* b, int64_t ldb, const F& solve) {
    Batch<T> x[kFactorWidth];
    for (int64_t j = 0; j < n; j += kLanes<T>) {
        const int64_t lanes = n - j;
        if (lanes >= kLanes<T>) {
            for (int64_t i = 0; i < m; ++i) x[i] = Batch<T>::load_unaligned(b + i * ldb + j);
            solve(x);
            for (int64_t i = 0; i < m; ++i) x[i].store_unaligned(b + i * ldb + j);
        } else {
            for (int64_t i = 0; i < m; ++i) x[i] = LoadPart(b + i * ldb + j, lanes);
            solve(x);
            for (int64_t i = 0; i < m; ++i) StorePart(b + i * ldb + j, x[i], lanes);
        }
    }
}

template <typename T>
void SolveLower(bool unit, int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    ForColumns(m, n, b, ldb, [&](Batch<T>* x) {
        if (unit) {
            Forward(m, a, lda, x, [](const Batch<T>& sum, int64_t) { return sum; });
        } else {
            Forward(m, a, lda, x, [&](const Batch<T>& sum, int64_t i) {
                return sum / Batch<T>(a[i * (lda + 1)]);
            });
        }
    });
}

template <typename T>
void SolveUpper(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    ForColumns(m, n, b, ldb, [&](Batch<T>* x) { Backward(m, a, lda, x); });
}

// The rows of b are right-hand sides: they are transposed, one per lane.
template <typename T>
void SolveFromRight(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb) {
    constexpr int64_t kRows = kLanes<T>;
    alignas(64) T transposed[kFactorWidth * kRows] = {};
    Batch<T> x[kFactorWidth];
    T inverse[kFactorWidth];
    for (int64_t j = 0; j < n; ++j) inverse[j] = 1 / a[j * (lda + 1)];
    for (int64_t i = 0; i < m; i += kRows) {
        const int64_t rows = m - i < kRows ? m - i : kRows;
        Transpose(rows, n, b + i * ldb, ldb, transposed, kRows);
        for (int64_t j = 0; j < n; ++j) x[j] = Batch<T>::load_aligned(transposed + j * kRows);
        Forward(n, a, lda, x,
                [&](const Batch<T>& sum, int64_t j) { return sum * Batch<T>(inverse[j]); });
        for (int64_t j = 0; j < n; ++j) x[j].store_aligned(transposed + j * kRows);
        Transpose(n, rows, transposed, kRows, b + i * ldb, ldb);
    }
}

// Left-looking: each column is updated by all columns before it. n is at most kMax.
template <int64_t kMax, typename T>
inline int64_t FactorColumns(int64_t n, T* a, int64_t lda) {
    constexpr int64_t kGroups = kMax < kLanes<T> ? 1 : kMax / kLanes<T>;
    constexpr int64_t kLength = kGroups * kLanes<T>;
    alignas(64) T column[kMax][kLength] = {};
    Transpose(n, n, a, lda, column[0], kLength);
    for (int64_t j = 0; j < n; ++j) {
        Batch<T> sum[kGroups];
        const int64_t first = j / kLanes<T>;
        for (int64_t g = first; g < kGroups; ++g) {
            sum[g] = Batch<T>::load_aligned(column[j] + g * kLanes<T>);
            for (int64_t p = 0; p < j; ++p) {
                const auto other = Batch<T>::load_aligned(column[p] + g * kLanes<T>);
                sum[g] = MinusProduct(sum[g], column[p][j], other);
            }
            sum[g].store_aligned(column[j] + g * kLanes<T>);
        }
        const T diagonal = column[j][j];
        if (!(diagonal > 0)) return j;  // NaN is no pivot, either
        const T root = xsimd::sqrt(Batch<T>(diagonal)).get(0);
        for (int64_t g = first; g < kGroups; ++g) {
            (sum[g] / Batch<T>(root)).store_aligned(column[j] + g * kLanes<T>);
        }
        column[j][j] = root;
    }
    Transpose(n, n, column[0], kLength, a, lda);
    return n;
}

int64_t FactorCholesky(int64_t n, auto* a, int64_t lda) {
    constexpr int64_t kHalfWidth = kFactorWidth / 2;
    return n <= kHalfWidth ? FactorColumns<kHalfWidth>(n, a, lda)
                           : FactorColumns<kFactorWidth>(n, a, lda);
}

// A matrix in column order; each column is padded to whole batches.
template <typename T>
struct Panel {
    int64_t m;
    int64_t n;
    T* columns;
    int64_t step;

    T* Column(int64_t j) const { return columns + j * step; }

    // The pivot of column j: the largest element from row j on, the first of several, or the last
    // NaN, which must reach the result.
    int64_t FindPivot(int64_t j) const {
        using Mask = xsimd::batch_bool<T>;
        const T* x = Column(j);
        const int64_t begin = j / kLanes<T> * kLanes<T>;
        const Batch<T> none{T(-1)};
        const auto size_at = [&](int64_t i) {
            Batch<T> size = xsimd::abs(Batch<T>::load_aligned(x + i));
            if (i < j) size = xsimd::select(FirstLanes<T>(j - i), none, size);
            return m - i < kLanes<T> ? xsimd::select(FirstLanes<T>(m - i), size, none) : size;
        };
        Batch<T> most = none;
        Mask is_nan{false};
        for (int64_t i = begin; i < m; i += kLanes<T>) {
            const Batch<T> size = size_at(i);
            most = xsimd::max(most, size);
            is_nan = is_nan | (size != size);
        }
        if (xsimd::any(is_nan)) {
            for (int64_t i = m - 1;; --i) {
                if (x[i] != x[i]) return i;
            }
        }
        const Batch<T> largest{
            FoldLanes(most, [](const Batch<T>& a, const Batch<T>& b) { return xsimd::max(a, b); })};
        for (int64_t i = begin;; i += kLanes<T>) {
            const uint64_t found = (size_at(i) == largest).mask();
            if (found != 0) return i + __builtin_ctzll(found);
        }
    }

    void SwapRows(int64_t i, int64_t k) const {
        if (i == k) return;
        for (int64_t c = 0; c < n; ++c) {
            T* x = Column(c);
            const T kept = x[i];
            x[i] = x[k];
            x[k] = kept;
        }
    }

    // Subtracts multiples of `count` columns from j on from column c, from row `begin` on.
    template <int kCount>
    void Subtract(int64_t j, int64_t c, int64_t begin, const T* factors) const {
        T* y = Column(c);
        for (int64_t i = begin / kLanes<T> * kLanes<T>; i < m; i += kLanes<T>) {
            Batch<T> sum = Batch<T>::load_aligned(y + i);
#pragma GCC unroll 4
            for (int k = 0; k < kCount; ++k) {
                sum = MinusProduct(sum, factors[k], Batch<T>::load_aligned(Column(j + k) + i));
            }
            sum.store_aligned(y + i);
        }
    }
};

// Rows above the diagonal are moved away as soon as they are known; their positions in the panel
// are undefined afterwards. Columns are eliminated in groups, whose updates of the columns to the
// right are fused.
template <typename T>
void FactorLu(int64_t m, int64_t n, T* a, int64_t lda, int64_t* pivots, T* work) {
    constexpr int kTogether = 4;
    const Panel<T> panel{m, n, work, FactorWork(m) / kFactorWidth};
    Transpose(m, n, a, lda, work, panel.step);
    for (int64_t j = 0; j < n; ++j) {  // initialized, since denormal garbage would be slow
        for (int64_t i = m; i % kLanes<T> != 0; ++i) panel.Column(j)[i] = 0;
    }
    T upper[kFactorWidth][kFactorWidth];
    for (int64_t begin = 0; begin < n; begin += kTogether) {
        const int64_t end = begin + kTogether < n ? begin + kTogether : n;
        for (int64_t j = begin; j < end; ++j) {
            pivots[j] = panel.FindPivot(j);
            panel.SwapRows(j, pivots[j]);
            T* x = panel.Column(j);
            for (int64_t c = j; c < end; ++c) upper[j][c] = panel.Column(c)[j];
            const T pivot = upper[j][j];
            // A column without a pivot is all zeros: nothing is subtracted.
            if (pivot == 0) continue;
            for (int64_t i = (j + 1) / kLanes<T> * kLanes<T>; i < m; i += kLanes<T>) {
                (Batch<T>::load_aligned(x + i) / Batch<T>(pivot)).store_aligned(x + i);
            }
            for (int64_t c = j + 1; c < end; ++c) {
                panel.template Subtract<1>(j, c, j + 1, &upper[j][c]);
            }
        }
        for (int64_t c = end; c < n; ++c) {
            T factors[kTogether] = {};
            for (int64_t j = begin; j < end; ++j) {
                T sum = panel.Column(c)[j];
                for (int64_t p = begin; p < j; ++p) sum -= panel.Column(p)[j] * factors[p - begin];
                upper[j][c] = sum;
                factors[j - begin] = upper[j][j] == 0 ? T(0) : sum;
            }
            panel.template Subtract<kTogether>(begin, c, end, factors);
        }
    }
    Transpose(n, m, work, panel.step, a, lda);
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = i; c < n; ++c) a[i * lda + c] = upper[i][c];
    }
}

template <typename T>
constexpr FactorLoopsOf<T> kLoops = {&FactorCholesky<T>, &SolveFromRight<T>, &SolveLower<T>,
                                     &SolveUpper<T>, &FactorLu<T>};

}  // namespace

CX_EXPORT_LOOPS(FactorLoops){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
