// Small GEMM: products of a few rows with weights that are read once, in place.
#pragma once

#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// Products of rows of x and rows of w, kChains accumulators each: enough independent additions to
// hide latency, with no more loads than necessary.
template <int kRows, int kColumns, int kChains, typename T>
void DotsOfRows(const T* x, const T* w, int64_t k, T* y, int64_t y_row) {
    constexpr int64_t kSize = Batch<T>::size;
    Batch<T> sum[kRows][kColumns][kChains];
    for (auto& row : sum) {
        for (auto& sums : row) {
            for (Batch<T>& s : sums) s = Batch<T>(T(0));
        }
    }
    const auto add = [&](int64_t q, int chain, const auto& load) {
        Batch<T> b[kColumns];
#pragma GCC unroll 4
        for (int j = 0; j < kColumns; ++j) b[j] = load(w + j * k + q);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
            const Batch<T> a = load(x + r * k + q);
#pragma GCC unroll 4
            for (int j = 0; j < kColumns; ++j) {
                sum[r][j][chain] = xsimd::fma(a, b[j], sum[r][j][chain]);
            }
        }
    };
    const auto whole = [](const T* from) { return Batch<T>::load_unaligned(from); };
    int64_t q = 0;
    for (; q + kChains * kSize <= k; q += kChains * kSize) {
#pragma GCC unroll 4
        for (int i = 0; i < kChains; ++i) add(q + i * kSize, i, whole);
    }
    for (; q + kSize <= k; q += kSize) add(q, 0, whole);
    if (q < k) add(q, 0, [n = k - q](const T* from) { return LoadPart(from, n); });
    for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kColumns; ++j) {
            Batch<T> all = sum[r][j][0];
            for (int i = 1; i < kChains; ++i) all += sum[r][j][i];
            y[r * y_row + j] =
                FoldLanes(all, [](const Batch<T>& a, const Batch<T>& b) { return a + b; });
        }
    }
}

template <int kColumns, typename T>
void DotsOfColumns(const T* x, int64_t rows, const T* w, int64_t k, T* y, int64_t y_row) {
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        DotsOfRows<4, kColumns, 4 / kColumns>(x + r * k, w, k, y + r * y_row, y_row);
    }
    for (; r < rows; ++r) {
        DotsOfRows<1, kColumns, 4>(x + r * k, w, k, y + r * y_row, y_row);
    }
}

template <typename T>
void Dots(const T* x, int64_t rows, const T* w, int64_t n, int64_t k, T* y, int64_t y_row) {
#if defined(CX_ISA_AVX512)
    constexpr int kColumns = 4;
#else
    constexpr int kColumns = 2;  // limited by 16 registers
#endif
    int64_t j = 0;
    for (; j + kColumns <= n; j += kColumns) {
        DotsOfColumns<kColumns>(x, rows, w + j * k, k, y + j, y_row);
    }
    for (; j < n; ++j) DotsOfColumns<1>(x, rows, w + j * k, k, y + j, y_row);
}

// All panels at once: one alone has too few chains to hide the latency of an addition.
template <int kPanels, typename T>
void RowOfSome(const RowOfPanels<T>& p, const T* b, T* y) {
    constexpr int64_t kSize = Batch<T>::size;
    constexpr int kLine = 64 / sizeof(T);
    constexpr int64_t kAhead = 16;  // rows
    for (int64_t column = 0; column < p.width;
         column += 2 * kSize, b += 2 * kSize, y += 2 * kSize) {
        Batch<T> sum[kPanels][2];
        for (auto& sums : sum) sums[0] = sums[1] = Batch<T>(T(0));
        const T* x = p.x;
        const T* row = b;
        for (int64_t q = 0; q < p.k; ++q, x += p.x_step, row += p.width) {
            const Batch<T> a(*x);
#pragma GCC unroll 4
            for (int i = 0; i < kPanels; ++i) {
                const T* at = row + i * p.panel;
#pragma GCC unroll 2
                for (int v = 0; v < 2; ++v) {
                    sum[i][v] = xsimd::fma(a, Batch<T>::load_unaligned(at + v * kSize), sum[i][v]);
                }
#pragma GCC unroll 2
                for (int64_t line = 0; line < 2 * kSize; line += kLine) {
                    __builtin_prefetch(at + kAhead * p.width + line);
                }
            }
        }
        for (int i = 0; i < kPanels; ++i) {
            for (int v = 0; v < 2; ++v) {
                T* to = y + i * p.width + v * kSize;
                if (p.accumulate) sum[i][v] += Batch<T>::load_unaligned(to);
                sum[i][v].store_unaligned(to);
            }
        }
    }
}

template <typename T>
void Row(const RowOfPanels<T>& p) {
    int64_t i = 0;
    const auto run = [&]<int kPanels>() {
        for (; i + kPanels <= p.n_panels; i += kPanels) {
            RowOfSome<kPanels>(p, p.b + i * p.panel, p.y + i * p.width);
        }
    };
    run.template operator()<4>();
    run.template operator()<3>();
    run.template operator()<1>();
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
