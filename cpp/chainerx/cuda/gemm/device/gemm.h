// Matrix products by tiles in shared memory. An element of the result is one chain of
// multiplications and additions along k, fused for floats, whatever the tile; of 16-bit floats,
// tensor cores add a few products at a time.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/gemm/device/tile.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

// A matrix of which a tile is loaded at `row`; 0 outside of it.
template <typename T>
struct TileOf {
    using Product = TileProduct<T>;
    const char* x;
    int64_t row;
    int64_t rows;
    int64_t columns;
    int64_t strides[2];

    typename Product::Item At(int64_t r, int64_t c) const {
        if (row + r >= rows || c >= columns) return Product::Load(T{});
        return Product::Load(
            *reinterpret_cast<const T*>(x + (row + r) * strides[0] + c * strides[1]));
    }
    void Fetch(TileLoads<T>& loads, int64_t column) const {
        loads.Fetch([&](int r, int c) { return At(r, column + c); });
    }
};

// What is done with the sums: a bias is added, which is rectified, or the rows of x1 are summed.
enum class GemmEnd { kNone, kRectifies, kSumsRows };

template <typename T, GemmEnd kEnd>
inline void Multiply(const GemmParams& p) {
    using Product = TileProduct<T>;
    using C = Number<T>;
    CX_SHARED(typename Product::Memory, a, Product::kMemory);
    CX_SHARED(typename Product::Memory, b, Product::kMemory);

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
    const TileOf<T> rows{x1, row, p.m, p.k, {p.strides1[0], p.strides1[1]}};
    const TileOf<T> columns{x2, column, p.n, p.k, {p.strides2[1], p.strides2[0]}};
    TileLoads<T> loads1{p.strides1[0] < p.strides1[1]};
    TileLoads<T> loads2{p.strides2[1] < p.strides2[0]};
    Product product;
    C row_sum = 0;
    rows.Fetch(loads1, 0);
    columns.Fetch(loads2, 0);
    for (int64_t depth = 0; depth < p.k; depth += kGemmDepth) {
        loads1.Put(a);
        loads2.Put(b);
        __syncthreads();
        if (depth + kGemmDepth < p.k) {  // in flight while this tile is computed
            rows.Fetch(loads1, depth + kGemmDepth);
            columns.Fetch(loads2, depth + kGemmDepth);
        }
        const int count = p.k - depth < kGemmDepth ? static_cast<int>(p.k - depth) : kGemmDepth;
        product.Add(a, b, count);
        if (kEnd == GemmEnd::kSumsRows && column == 0 && threadIdx.x < kGemmTile) {
            C sum = 0;
            for (int k = 0; k < count; ++k) {
                const auto v = Product::Get(a, static_cast<int>(threadIdx.x), k);
                sum = static_cast<C>(sum + static_cast<C>(v));
            }
            row_sum = static_cast<C>(row_sum + sum);
        }
        __syncthreads();
    }
    T* out = reinterpret_cast<T*>(static_cast<char*>(p.out)) + batch * p.m * p.n;
    char* const bias = p.bias;
    if (kEnd == GemmEnd::kSumsRows && column == 0 && threadIdx.x < kGemmTile &&
        row + threadIdx.x < p.m) {
        reinterpret_cast<T*>(bias)[row + threadIdx.x] = AsNumbers::Store<T>(row_sum);
    }
    product.ForEach([&](int i, int j, C y) {
        const int64_t r = row + i;
        const int64_t c = column + j;
        if (r >= p.m || c >= p.n) return;
        if (kEnd != GemmEnd::kSumsRows && bias != nullptr) {
            const C offset = AsNumbers::Load(*reinterpret_cast<const T*>(bias + c * p.bias_stride));
            // As a product that is stored, and then read again to be added to.
            y = static_cast<C>(AsNumbers::Load(AsNumbers::Store<T>(y)) + offset);
            if constexpr (kEnd == GemmEnd::kRectifies) y = y > C(0) || y != y ? y : C(0);
        }
        out[r * p.n + c] = AsNumbers::Store<T>(y);
    });
}

}  // namespace chainerx::cuda
