// Matrix products by tiles in shared memory. An element of the result is one chain of
// multiplications and additions along k, fused for floats, whatever the tile.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

inline float MultiplyAdd(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double MultiplyAdd(double a, double b, double c) { return ::fma(a, b, c); }
inline bool MultiplyAdd(bool a, bool b, bool c) { return (a && b) || c; }
// Integers wrap.
template <typename T>
inline T MultiplyAdd(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
}

// Copies a tile of kGemmTile rows and kGemmDepth columns to shared memory, transposed; zeros where
// the matrix ends. Neighbouring threads load along the axis of the smaller stride.
template <typename T>
inline void LoadTile(const char* x, int64_t row, int64_t rows, int64_t column, int64_t columns,
                     const int64_t (&strides)[2], Number<T> (*tile)[kGemmTile + 1]) {
    const bool is_row_fast = strides[0] < strides[1];
    for (int e = static_cast<int>(threadIdx.x); e < kGemmTile * kGemmDepth; e += kGemmThreads) {
        const int r = is_row_fast ? e % kGemmTile : e / kGemmDepth;
        const int c = is_row_fast ? e / kGemmTile : e % kGemmDepth;
        Number<T> v = Number<T>(0);
        if (row + r < rows && column + c < columns) {
            v = AsNumbers::Load(*reinterpret_cast<const T*>(x + (row + r) * strides[0] +
                                                            (column + c) * strides[1]));
        }
        tile[c][r] = v;
    }
}

// A thread computes 4 x 4 elements, kGemmTile / 4 apart.
template <typename T, bool kRectifies>
inline void Multiply(const GemmParams& p) {
    using C = Number<T>;
    constexpr int kStep = kGemmTile / 4;
    CX_SHARED(C, tile1, kGemmDepth * (kGemmTile + 1));
    CX_SHARED(C, tile2, kGemmDepth * (kGemmTile + 1));
    using Row = C[kGemmTile + 1];
    Row* const a = reinterpret_cast<Row*>(&tile1[0]);
    Row* const b = reinterpret_cast<Row*>(&tile2[0]);

    int64_t block = blockIdx.x;
    const int64_t column = block % p.column_blocks * kGemmTile;
    block /= p.column_blocks;
    const int64_t row = block % p.row_blocks * kGemmTile;
    const int64_t batch = block / p.row_blocks;
    const char* x1 = p.x1;
    const char* x2 = p.x2;
    int64_t rest = batch;
    for (int d = p.batch_ndim - 1; d >= 0; --d) {
        const int64_t at = rest % p.batch_sizes[d];
        rest /= p.batch_sizes[d];
        x1 += at * p.batch_strides[0][d];
        x2 += at * p.batch_strides[1][d];
    }
    const int64_t strides2[2] = {p.strides2[1], p.strides2[0]};
    const int r0 = static_cast<int>(threadIdx.x) / kStep;
    const int c0 = static_cast<int>(threadIdx.x) % kStep;
    C sums[4][4] = {};
    for (int64_t depth = 0; depth < p.k; depth += kGemmDepth) {
        LoadTile<T>(x1, row, p.m, depth, p.k, p.strides1, a);
        LoadTile<T>(x2, column, p.n, depth, p.k, strides2, b);
        __syncthreads();
        const int count = p.k - depth < kGemmDepth ? static_cast<int>(p.k - depth) : kGemmDepth;
        for (int q = 0; q < count; ++q) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sums[i][j] =
                        MultiplyAdd(a[q][r0 + i * kStep], b[q][c0 + j * kStep], sums[i][j]);
                }
            }
        }
        __syncthreads();
    }
    T* out = reinterpret_cast<T*>(static_cast<char*>(p.out)) + batch * p.m * p.n;
    const char* bias = p.bias == nullptr ? nullptr : static_cast<const char*>(p.bias);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int64_t c = column + c0 + j * kStep;
        if (c >= p.n) continue;
        const C offset =
            bias == nullptr
                ? C(0)
                : AsNumbers::Load(*reinterpret_cast<const T*>(bias + c * p.bias_stride));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int64_t r = row + r0 + i * kStep;
            if (r >= p.m) continue;
            C y = sums[i][j];
            if (bias != nullptr) {
                // As a product that is stored, and then read again to be added to.
                y = static_cast<C>(AsNumbers::Load(AsNumbers::Store<T>(y)) + offset);
                if constexpr (kRectifies) y = y > C(0) || y != y ? y : C(0);
            }
            out[r * p.n + c] = AsNumbers::Store<T>(y);
        }
    }
}

}  // namespace chainerx::cuda
