// Matrix products by tiles in shared memory, or by a sum per element where there are few. An
// element is one chain of multiplications and additions along k, fused for floats, whatever the
// tile; tensor cores add a few products of 16-bit floats at a time.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/last_block.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/gemm/device/pieces.h"
#include "chainerx/cuda/gemm/device/tile.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

// What is done with the sums: a bias is added, which is rectified, or the rows of x1 are summed.
enum class GemmEnd { kNone, kRectifies, kSumsRows };

// A matrix of which tiles are loaded from `row` on.
struct TileOf {
    const char* x;
    int64_t row;
    int64_t rows;
    int64_t columns;
    int64_t strides[2];

    template <typename Loads>
    void Fetch(Loads& loads, int64_t column) const {
        loads.Fetch([&](int r, int c) -> const char* {
            if (row + r >= rows || column + c >= columns) return nullptr;
            return x + (row + r) * strides[0] + (column + c) * strides[1];
        });
    }
};

// The matrices of a batch.
struct GemmBatch {
    const char* x1;
    const char* x2;

    GemmBatch(const GemmParams& p, uint32_t batch) : x1{p.x1}, x2{p.x2} {
        for (int d = p.batch_ndim - 1; d >= 0; --d) {
            const auto size = static_cast<uint32_t>(p.batch_sizes[d]);
            const int64_t at = batch % size;
            batch /= size;
            x1 += at * p.batch_strides[0][d];
            x2 += at * p.batch_strides[1][d];
        }
    }
};

// Stores element i of all, in column c; those after the products are the sums of rows.
template <typename T, GemmEnd kEnd>
inline void StoreProduct(const GemmParams& p, int64_t i, int64_t c, Number<T> y) {
    if (kEnd == GemmEnd::kSumsRows && i >= p.n_out) {
        At<T>(p.bias)[i - p.n_out] = AsNumbers::Store<T>(y);
        return;
    }
    if (kEnd != GemmEnd::kSumsRows && p.bias != nullptr) {
        const Number<T> offset = AsNumbers::Load(
            *reinterpret_cast<const T*>(static_cast<char*>(p.bias) + c * p.bias_stride));
        // As a product that is stored, and then read again to be added to.
        y = static_cast<Number<T>>(AsNumbers::Load(AsNumbers::Store<T>(y)) + offset);
        if constexpr (kEnd == GemmEnd::kRectifies) {
            y = y > Number<T>(0) || y != y ? y : Number<T>(0);
        }
    }
    At<T>(p.out)[i] = AsNumbers::Store<T>(y);
}
template <typename T, GemmEnd kEnd>
inline void StorePiece(const GemmParams& p, int64_t piece, int64_t i, int64_t c, Number<T> y) {
    if (p.pieces == 1) {
        StoreProduct<T, kEnd>(p, i, c, y);
    } else {
        At<Number<T>>(p.parts)[piece * p.n_sums + i] = y;
    }
}

template <typename T, GemmEnd kEnd>
inline void CombinePieces(const GemmParams& p, int64_t i, int64_t c) {
    StoreProduct<T, kEnd>(p, i, c, SumPieces<Number<T>>(p.parts, p.pieces, p.n_sums, i));
}

template <typename T, GemmEnd kEnd, int kTile>
inline void Multiply(const GemmParams& p) {
    using Product = TileProduct<T, kTile>;
    using C = Number<T>;
    CX_SHARED(typename Product::Memory, a, Product::kMemory);
    CX_SHARED(typename Product::Memory, b, Product::kMemory);

    uint32_t block = blockIdx.x;
    const int64_t column = static_cast<int64_t>(block % p.column_blocks) * kTile;
    block /= p.column_blocks;
    const int64_t row = static_cast<int64_t>(block % p.row_blocks) * kTile;
    block /= p.row_blocks;
    const uint32_t piece = block % p.pieces;
    const uint32_t batch = block / p.pieces;
    const GemmBatch matrices{p, batch};
    const PieceRange range{p.k, p.piece, piece};
    const TileOf rows{matrices.x1, row, p.m, range.end, {p.strides1[0], p.strides1[1]}};
    const TileOf columns{matrices.x2, column, p.n, range.end, {p.strides2[1], p.strides2[0]}};
    TileLoads<T, kTile> loads1{p.strides1[0] < p.strides1[1], p.quads[0]};
    TileLoads<T, kTile> loads2{p.strides2[1] < p.strides2[0], p.quads[1]};
    Product product;
    C row_sum{};
    const int thread = static_cast<int>(threadIdx.x);
    const bool sums_row =
        kEnd == GemmEnd::kSumsRows && column == 0 && thread < kTile && row + thread < p.m;
    // What is loaded for the next step is in flight while this one is computed. Fetch stands once:
    // its text is long when compiled.
    for (int64_t depth = range.begin - kGemmDepth; depth < range.end; depth += kGemmDepth) {
        if (depth >= range.begin) {
            loads1.Put(a);
            loads2.Put(b);
            __syncthreads();
        }
        if (depth + kGemmDepth < range.end) {
            rows.Fetch(loads1, depth + kGemmDepth);
            columns.Fetch(loads2, depth + kGemmDepth);
        }
        if (depth < range.begin) continue;
        const int64_t rest = range.end - depth;
        const int count = rest < kGemmDepth ? static_cast<int>(rest) : kGemmDepth;
        product.Add(a, b, count);
        if (sums_row) {
            C sum{};
            for (int k = 0; k < count; ++k) {
                const auto* x = reinterpret_cast<const typename Product::Item*>(a);
                sum = static_cast<C>(sum + static_cast<C>(x[Product::PlaceOf(thread, k)]));
            }
            row_sum = static_cast<C>(row_sum + sum);
        }
        __syncthreads();
    }
    if (sums_row) StorePiece<T, kEnd>(p, piece, p.n_out + row + thread, 0, row_sum);
    product.ForEach([&](int i, int j, C y) {
        const int64_t r = row + i;
        const int64_t c = column + j;
        if (r >= p.m || c >= p.n) return;
        StorePiece<T, kEnd>(p, piece, (batch * p.m + r) * p.n + c, c, y);
    });
    if (p.pieces == 1) return;
    const uint32_t tile =
        blockIdx.x % (p.column_blocks * p.row_blocks) + batch * (p.column_blocks * p.row_blocks);
    if (!IsLastBlock(At<uint32_t>(p.counters, tile), p.pieces)) return;
    if (sums_row) CombinePieces<T, kEnd>(p, p.n_out + row + thread, 0);
    for (int e = thread; e < kTile * kTile; e += kBlockThreads) {
        const int64_t r = row + e / kTile;
        const int64_t c = column + e % kTile;
        if (r < p.m && c < p.n) CombinePieces<T, kEnd>(p, (batch * p.m + r) * p.n + c, c);
    }
}

// Few elements, or many batches of few: the lanes of an element sum every so many products, and are
// then added in halves.
template <typename T, GemmEnd kEnd>
inline void Dots(const GemmParams& p) {
    using C = Number<T>;
    CX_SHARED(C, sums, kBlockThreads);
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % p.lanes;
    const uint32_t task =
        blockIdx.x * static_cast<uint32_t>(kBlockThreads / p.lanes) + threadIdx.x / p.lanes;
    const uint32_t piece = task / static_cast<uint32_t>(p.n_out);
    const uint32_t i = task % static_cast<uint32_t>(p.n_out);
    const uint32_t c = i % static_cast<uint32_t>(p.n);
    C sum{};
    if (piece < p.pieces) {
        const uint32_t row = i / static_cast<uint32_t>(p.n);
        const auto m = static_cast<uint32_t>(p.m);
        const GemmBatch matrices{p, row / m};
        const char* x1 = matrices.x1 + row % m * p.strides1[0];
        const char* x2 = matrices.x2 + c * p.strides2[1];
        const PieceRange range{p.k, p.piece, piece};
        for (int64_t k = range.begin + lane; k < range.end; k += p.lanes) {
            sum = MultiplyAdd(AsNumbers::Load(*reinterpret_cast<const T*>(x1 + k * p.strides1[1])),
                              AsNumbers::Load(*reinterpret_cast<const T*>(x2 + k * p.strides2[0])),
                              sum);
        }
    }
    for (int half = p.lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        sums[thread] = sum;
        __syncthreads();
        if (lane < half) sum = static_cast<C>(sum + sums[thread + half]);
    }
    if (piece < p.pieces && lane == 0) StorePiece<T, kEnd>(p, piece, i, c, sum);
    if (p.pieces == 1 || !IsLastBlock(At<uint32_t>(p.counters), gridDim.x)) return;
    for (int64_t e = thread; e < p.n_out; e += kBlockThreads) {
        CombinePieces<T, kEnd>(p, e, e % p.n);
    }
}

}  // namespace chainerx::cuda
