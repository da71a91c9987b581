// GEMM in plain loops: for integers, and if no BLAS is found.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>

#include "chainerx/core/interrupt.h"

namespace chainerx {
namespace native {

template <typename T>
inline void MultiplyAdd(T& sum, T x, T y) {
    sum += x * y;
}
// std::complex's operator checks for infinities by a function call per product.
template <typename T>
inline void MultiplyAdd(std::complex<T>& sum, std::complex<T> x, std::complex<T> y) {
    sum = {sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
           sum.imag() + (x.real() * y.imag() + x.imag() * y.real())};
}

// One vector register of numbers, or one complex number.
template <typename T>
struct PlainVector {
    static constexpr int kSize = 16 / sizeof(T);
    typedef T Type __attribute__((vector_size(16)));
};
template <typename T>
struct PlainVector<std::complex<T>> {
    static constexpr int kSize = 1;
    using Type = std::complex<T>;
};

// A register tile of c: 4 x 2 vectors of sums over `depth` packed rows and columns.
template <typename T>
void PlainTile(int64_t depth, const T* a, const T* b, T* sums) {
    constexpr int kSize = PlainVector<T>::kSize;
    using Vector = typename PlainVector<T>::Type;
    Vector sum[4][2] = {};
    for (int64_t p = 0; p < depth; ++p) {
        Vector b0;
        Vector b1;
        std::memcpy(&b0, b + p * 2 * kSize, sizeof b0);
        std::memcpy(&b1, b + p * 2 * kSize + kSize, sizeof b1);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const Vector x = Vector{} + a[p * 4 + i];
            MultiplyAdd(sum[i][0], x, b0);
            MultiplyAdd(sum[i][1], x, b1);
        }
    }
    std::memcpy(static_cast<void*>(sums), sum, sizeof sum);
}

// c (m x n, rows ldc apart) = or += a (m x k) times b (k x n), each with two strides. Each element
// of c is summed in the order of k, panel by panel, wherever the caller cuts m or n.
template <typename T>
void PlainGemm(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col,
               const T* b, int64_t b_row, int64_t b_col, T* c, int64_t ldc, bool accumulate) {
    constexpr int64_t kRows = 4;
    constexpr int64_t kCols = 2 * PlainVector<T>::kSize;
    constexpr int64_t kDepth = 256;
    constexpr int64_t kBlockRows = 64;  // rows of a, packed once for all columns
    struct Panel {
        T b[kDepth * kCols];
        T a[kDepth * kBlockRows];
    };
    const auto panel = std::make_unique_for_overwrite<Panel>();

    const auto pack_a = [&](int64_t i0, int64_t k0, int64_t rows, int64_t depth) {
        for (int64_t i = 0; i < (rows + kRows - 1) / kRows * kRows; ++i) {
            // Missing rows of the last tile are copies, whose sums are ignored.
            const T* from = a + (i0 + std::min(i, rows - 1)) * a_row + k0 * a_col;
            T* to = panel->a + i / kRows * kRows * depth + i % kRows;
            for (int64_t p = 0; p < depth; ++p) to[p * kRows] = from[p * a_col];
        }
    };
    const auto pack_b = [&](int64_t k0, int64_t j0, int64_t cols, int64_t depth) {
        for (int64_t p = 0; p < depth; ++p) {
            const T* from = b + (k0 + p) * b_row + j0 * b_col;
            T* to = panel->b + p * kCols;
            for (int64_t j = 0; j < cols; ++j) to[j] = from[j * b_col];
            std::fill(to + cols, to + kCols, T{});
        }
    };
    const auto store = [&](const T* sums, T* out, int64_t rows, int64_t cols, bool add) {
        for (int64_t i = 0; i < rows; ++i) {
            const T* from = sums + i * kCols;
            T* to = out + i * ldc;
            for (int64_t j = 0; j < cols; ++j) to[j] = add ? to[j] + from[j] : from[j];
        }
    };

    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
        const int64_t depth = std::min(kDepth, k - k0);
        for (int64_t i0 = 0; i0 < m; i0 += kBlockRows) {
            const int64_t rows = std::min(kBlockRows, m - i0);
            pack_a(i0, k0, rows, depth);
            for (int64_t j0 = 0; j0 < n; j0 += kCols) {
                const int64_t cols = std::min(kCols, n - j0);
                if (j0 % (32 * kCols) == 31 * kCols) internal::CheckInterrupt();
                pack_b(k0, j0, cols, depth);
                for (int64_t i = 0; i < rows; i += kRows) {
                    T sums[kRows * kCols];
                    PlainTile(depth, panel->a + i * depth, panel->b, sums);
                    store(sums, c + (i0 + i) * ldc + j0, std::min(kRows, rows - i), cols,
                          accumulate || k0 > 0);
                }
            }
        }
    }
}

// The same without packing, for vectors and for matrices that are not worth it.
template <typename T>
void ThinGemm(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col, const T* b,
              int64_t b_row, int64_t b_col, T* c, int64_t ldc, bool accumulate) {
    if (n == 1 && a_col != 1 && a_row == 1 && ldc == 1) {  // along the columns of a
        ThinGemm(1, m, k, b, int64_t{0}, b_row, a, a_col, a_row, c, m, accumulate);
        return;
    }
    constexpr int64_t kColumns = 1024;   // whose sums stay in L1
    constexpr int64_t kChunk = 1 << 18;  // products between two interrupt checks
    int64_t done = 0;
    const auto look = [&](int64_t products) {
        if ((done += products) < kChunk) return;
        done = 0;
        internal::CheckInterrupt();
    };
    for (int64_t i = 0; i < m; ++i) {
        const T* x = a + i * a_row;
        T* to = c + i * ldc;
        if (n > 1 && b_col == 1) {
            for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
                const int64_t j1 = std::min(n, j0 + kColumns);
                if (!accumulate) std::fill(to + j0, to + j1, T{});
                for (int64_t q = 0; q < k; ++q) {
                    const T* y = b + q * b_row;
                    for (int64_t j = j0; j < j1; ++j) MultiplyAdd(to[j], x[q * a_col], y[j]);
                    look(j1 - j0);
                }
            }
            continue;
        }
        for (int64_t j = 0; j < n; ++j) {
            const T* y = b + j * b_col;
            T sum = accumulate ? to[j] : T{};
            for (int64_t q0 = 0; q0 < k; q0 += kChunk) {
                const int64_t q1 = std::min(k, q0 + kChunk);
                if (a_col == 1 && b_row == 1) {
                    for (int64_t q = q0; q < q1; ++q) MultiplyAdd(sum, x[q], y[q]);
                } else {
                    for (int64_t q = q0; q < q1; ++q) MultiplyAdd(sum, x[q * a_col], y[q * b_row]);
                }
                look(q1 - q0);
            }
            to[j] = sum;
        }
    }
}

}  // namespace native
}  // namespace chainerx
