// A small matrix times a vector (GEMV), without BLAS.
#pragma once

#include <cstdint>

#include "chainerx/native/gemm/matrix_product.h"
#include "chainerx/native/gemm/small_gemm.h"
#include "chainerx/native/strided/copy_block.h"

namespace chainerx::native {
namespace {

// How a product is computed, all with sequential sums, hence the same bits for all vector widths.
enum class VectorForm {
    kNone,        // not here
    kScalar,      // sums too short for SIMD loops
    kColumns,     // columns of the matrix are adjacent
    kTransposed,  // columns are made adjacent first
};

// A matrix times a column, or its transpose; each row of `a` is as long as the sum.
template <typename T>
struct MatrixVector {
    // BLAS takes twice as long for 8 x 8.
    static constexpr int64_t kMaxWork = (1 << 12) / sizeof(T);

    int64_t rows;
    int64_t k;
    const T* a;
    int64_t a_row;
    int64_t a_col;
    const T* x;
    int64_t x_step;
    T* y;
    int64_t y_step;
    bool accumulate;

    static MatrixVector Of(const MatrixProduct<T>& p) {
        if (p.n == 1) {
            return {p.m, p.k,       p.a, p.a_row(), p.a_column(),
                    p.b, p.b_row(), p.c, p.ldc,     p.accumulate};
        }
        return {p.n, p.k, p.b, p.b_column(), p.b_row(), p.a, p.a_column(), p.c, 1, p.accumulate};
    }

    VectorForm Form() const {
        constexpr int64_t kMinRows = 8;
        // BLAS computes longer ones in less time than transposing them takes.
        constexpr int64_t kMaxTransposed = 16;
        constexpr int64_t kMaxTransposedRows = 32;
        if (k > kMaxWork || rows > kMaxWork / k || rows == 1) return VectorForm::kNone;
        if (k < (a_row == 1 && y_step == 1 ? 5 : 9)) return VectorForm::kScalar;
        if (y_step != 1) return VectorForm::kNone;
        if (a_row == 1) {  // few rows don't fill SIMD registers
            return rows < kMinRows && k > kMinRows ? VectorForm::kNone : VectorForm::kColumns;
        }
        if (k > kMaxTransposed || rows > kMaxTransposedRows || sizeof(T) != sizeof(float)) {
            return VectorForm::kNone;
        }
        return VectorForm::kTransposed;
    }
};

// Computes kRows sums in parallel, since additions of one sum depend on each other.
template <int kRows, typename T>
void RowSums(const MatrixVector<T>& v, int64_t i) {
    T* y = v.y + i * v.y_step;
    const T* a = v.a + i * v.a_row;
    T sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = v.accumulate ? y[r * v.y_step] : T{};
    for (int64_t q = 0; q < v.k; ++q, a += v.a_col) {
        const T x = v.x[q * v.x_step];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) sum[r] += a[r * v.a_row] * x;
    }
    for (int r = 0; r < kRows; ++r) y[r * v.y_step] = sum[r];
}

template <typename T>
void ScalarMatrixVector(const MatrixVector<T>& v) {
    int64_t i = 0;
    for (; i + 4 <= v.rows; i += 4) RowSums<4>(v, i);
    if (const int64_t rest = v.rows - i; rest == 3) {
        RowSums<3>(v, i);
    } else if (rest == 2) {
        RowSums<2>(v, i);
    } else if (rest == 1) {
        RowSums<1>(v, i);
    }
}

template <typename T>
bool PrefersVector(const MatrixProduct<T>& p) {
    if (p.m != 1 && p.n != 1) return false;
    return MatrixVector<T>::Of(p).Form() != VectorForm::kNone;
}

template <typename T>
void RunVector(const MatrixProduct<T>& p) {
    const auto v = MatrixVector<T>::Of(p);
    const VectorForm form = v.Form();
    if (form == VectorForm::kScalar) return ScalarMatrixVector(v);
    const auto product = [&](const T* a, int64_t a_col) {
        small_gemm_loops().Of<T>().product(1, v.rows, v.k, v.x, 0, v.x_step, a, a_col, v.y, v.rows,
                                           v.accumulate);
    };
    if (form == VectorForm::kColumns) return product(v.a, v.a_col);
    constexpr int64_t kSize = sizeof(T);
    alignas(64) T transposed[MatrixVector<T>::kMaxWork];
    CopyBlock(reinterpret_cast<char*>(transposed), reinterpret_cast<const char*>(v.a),
              {v.k, v.rows, v.rows * kSize, kSize, v.a_col * kSize, v.a_row * kSize}, kSize);
    product(transposed, v.rows);
}

}  // namespace
}  // namespace chainerx::native
