// Matrix product in plain loops: for integers, and where no BLAS is found.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>

namespace chainerx {
namespace native {

template <typename T>
inline void MultiplyAdd(T& sum, T x, T y) {
    sum += x * y;
}
// The operator of std::complex looks for infinities by a call per product.
template <typename T>
inline void MultiplyAdd(std::complex<T>& sum, std::complex<T> x, std::complex<T> y) {
    sum = {sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
           sum.imag() + (x.real() * y.imag() + x.imag() * y.real())};
}

// c (m x n, rows ldc apart) = or += a (m x k) times b (k x n), each addressed by two strides.
// Each element of c is summed in the order of k, panel by panel, wherever the caller cuts m or n.
template <typename T>
void PlainGemm(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_col,
               const T* b, int64_t b_row, int64_t b_col, T* c, int64_t ldc, bool accumulate) {
    constexpr int64_t kRows = 4;
    constexpr int64_t kCols = std::max<int64_t>(1, 64 / static_cast<int64_t>(sizeof(T)));
    constexpr int64_t kDepth = 256;
    struct Panel {
        T b[kDepth * kCols];
        T a[kDepth * kRows];
    };
    const auto panel = std::make_unique_for_overwrite<Panel>();

    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
        const int64_t depth = std::min(kDepth, k - k0);
        const bool add = accumulate || k0 > 0;
        for (int64_t j0 = 0; j0 < n; j0 += kCols) {
            const int64_t cols = std::min(kCols, n - j0);
            for (int64_t p = 0; p < depth; ++p) {
                const T* from = b + (k0 + p) * b_row + j0 * b_col;
                T* to = panel->b + p * kCols;
                for (int64_t j = 0; j < cols; ++j) to[j] = from[j * b_col];
                std::fill(to + cols, to + kCols, T{});
            }
            for (int64_t i0 = 0; i0 < m; i0 += kRows) {
                const int64_t rows = std::min(kRows, m - i0);
                for (int64_t i = 0; i < kRows; ++i) {
                    const T* from = a + (i0 + std::min(i, rows - 1)) * a_row + k0 * a_col;
                    for (int64_t p = 0; p < depth; ++p) panel->a[p * kRows + i] = from[p * a_col];
                }
                T sum[kRows][kCols] = {};
                for (int64_t p = 0; p < depth; ++p) {
                    for (int64_t i = 0; i < kRows; ++i) {
                        for (int64_t j = 0; j < kCols; ++j) {
                            MultiplyAdd(sum[i][j], panel->a[p * kRows + i],
                                        panel->b[p * kCols + j]);
                        }
                    }
                }
                for (int64_t i = 0; i < rows; ++i) {
                    T* out = c + (i0 + i) * ldc + j0;
                    for (int64_t j = 0; j < cols; ++j)
                        out[j] = add ? out[j] + sum[i][j] : sum[i][j];
                }
            }
        }
    }
}

}  // namespace native
}  // namespace chainerx
