// Tiles of scores, and products of tiles, for a block of threads.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/gemm/device/gemm.h"
#include "chainerx/native/attention/simd/power_of_2.h"
#include "chainerx/native/random/random.h"

namespace chainerx::cuda {

inline constexpr int kTile = kGemmTile;
inline constexpr int kEachOfTile = kTile * kTile / kBlockThreads;
// Threads of a row of scores: each has every kRowLanes-th of them.
inline constexpr int kRowLanes = kBlockThreads / kTile;

template <typename C>
inline C Infinity() {
    return std::numeric_limits<C>::infinity();
}
template <typename C>
inline C PowerOf2(C x) {
    return native::CX_ISA::PowerOf2(xsimd::batch<C>(x)).v;
}

// Matrix i of the last two axes; `last` is the size of the innermost leading axis.
inline const char* MatrixOf(const AttentionParams& p, const MatricesOf& x, int64_t i,
                            int64_t last) {
    const char* at = x.data;
    for (int d = p.batch_ndim - 1; d >= 0; --d) {
        const int64_t size = d == p.batch_ndim - 1 ? last : p.batch_sizes[d];
        at += i % size * x.batch_strides[d];
        i /= size;
    }
    return at;
}
inline const char* QueriesOf(const AttentionParams& p, const MatricesOf& x, int64_t matrix) {
    return MatrixOf(p, x, matrix, p.batch_ndim == 0 ? 1 : p.batch_sizes[p.batch_ndim - 1]);
}
inline const char* KeysOf(const AttentionParams& p, const MatricesOf& x, int64_t key_matrix) {
    return MatrixOf(p, x, key_matrix,
                    p.batch_ndim == 0 ? 1 : p.batch_sizes[p.batch_ndim - 1] / p.group);
}

// The tile of a block: its first column and row, and its matrix.
struct BlockPlace {
    int64_t column;
    int64_t row;
    int64_t matrix;

    BlockPlace(const AttentionParams& p, int columns) {
        const int64_t block = blockIdx.x / p.column_blocks;
        column = blockIdx.x % p.column_blocks * columns;
        row = block % p.row_blocks * kTile;
        matrix = block / p.row_blocks;
    }
};

// Rows of a matrix from `row` on, or its columns: the depth of a product is the other axis.
inline TileOf RowsOf(const char* x, const MatricesOf& of, int64_t row, int64_t rows,
                     int64_t columns) {
    return {x, row, rows, columns, {of.row, of.column}};
}
inline TileOf ColumnsOf(const char* x, const MatricesOf& of, int64_t column, int64_t rows,
                        int64_t columns) {
    return {x, column, columns, rows, {of.column, of.row}};
}

// Shared memory of a block: a tile of weights for products by their transpose or themselves, in the
// place of which are scores, or the first operand of a product, and the second operand.
template <typename T>
struct AttentionTiles {
    using C = Number<T>;
    using Product = TileProduct<T, kTile>;
    using Memory = typename Product::Memory;
    static constexpr int kPitch = kTile + 1;  // of scores
    static constexpr int kChunks = kTile / kGemmDepth;
    static constexpr int kOfProducts = kChunks * Product::kMemory;
    static constexpr int kOfScores =
        static_cast<int>((kTile * kPitch * sizeof(C) + sizeof(Memory) - 1) / sizeof(Memory));
    static constexpr int kFirst = kOfProducts > kOfScores ? kOfProducts : kOfScores;

    Memory* first;
    Memory* second;

    C& Score(int i, int j) const { return reinterpret_cast<C*>(first)[i * kPitch + j]; }
    static int Row() { return static_cast<int>(threadIdx.x) / kRowLanes; }
    static int Column(int u) { return u * kRowLanes + static_cast<int>(threadIdx.x) % kRowLanes; }
    // Stores what product has in the place of scores.
    void Store(const Product& product) const {
        product.ForEach([&](int i, int j, C y) { Score(i, j) = y; });
        __syncthreads();
    }
    // Element k of a row of the first operand of AddWeighted.
    void Put(int row, int k, C x) const {
        auto* tile =
            reinterpret_cast<typename Product::Item*>(first + k / kGemmDepth * Product::kMemory);
        tile[Product::PlaceOf(row, k % kGemmDepth)] = Product::Load(static_cast<T>(x));
    }
    // Puts this thread's share of a row of scores, or transposes it.
    void PutShare(const C (&x)[kEachOfTile], bool transposes) const {
        __syncthreads();
#pragma unroll
        for (int u = 0; u < kEachOfTile; ++u) {
            Put(transposes ? Column(u) : Row(), transposes ? Row() : Column(u), x[u]);
        }
        __syncthreads();
    }
    // Adds the product of rows a and rows b along their columns.
    void Add(Product& product, const TileOf& a, const TileOf& b) const {
        TileLoads<T, kTile> loads1{a.strides[0] < a.strides[1], false};
        TileLoads<T, kTile> loads2{b.strides[0] < b.strides[1], false};
        const int64_t depth = a.columns;
        a.Fetch(loads1, 0);
        b.Fetch(loads2, 0);
#pragma unroll 1
        for (int64_t at = 0; at < depth; at += kGemmDepth) {
            loads1.Put(first);
            loads2.Put(second);
            __syncthreads();
            if (at + kGemmDepth < depth) {  // in flight while this tile is computed
                a.Fetch(loads1, at + kGemmDepth);
                b.Fetch(loads2, at + kGemmDepth);
            }
            product.Add(first, second,
                        depth - at < kGemmDepth ? static_cast<int>(depth - at) : kGemmDepth);
            __syncthreads();
        }
    }
    // Adds the product of what was Put and of rows b, from column `begin` on.
    void AddWeighted(Product& product, const TileOf& b, int64_t begin) const {
        TileLoads<T, kTile> loads{b.strides[0] < b.strides[1], false};
        b.Fetch(loads, begin);
        const int64_t depth = b.columns - begin < kTile ? b.columns - begin : kTile;
#pragma unroll 1
        for (int at = 0; at < depth; at += kGemmDepth) {
            loads.Put(second);
            __syncthreads();
            if (at + kGemmDepth < depth) b.Fetch(loads, begin + at + kGemmDepth);
            product.Add(first + at / kGemmDepth * Product::kMemory, second,
                        depth - at < kGemmDepth ? static_cast<int>(depth - at) : kGemmDepth);
            __syncthreads();
        }
    }
};
#define CX_ATTENTION_TILES(T, name)                                                         \
    CX_SHARED(typename AttentionTiles<T>::Memory, name##_first, AttentionTiles<T>::kFirst); \
    CX_SHARED(typename AttentionTiles<T>::Memory, name##_second,                            \
              AttentionTiles<T>::Product::kMemory);                                         \
    const AttentionTiles<T> name { &name##_first[0], &name##_second[0] }

// What takes part in the scores of a matrix besides queries and keys.
template <typename C>
struct ScoreTerms {
    const AttentionParams& p;
    int64_t matrix;
    const char* mask;
    philox::Stream stream;

    ScoreTerms(const AttentionParams& params, int64_t of)
        : p{params},
          matrix{of},
          mask{params.mask_dtype != 0 ? QueriesOf(params, params.mask, of) : nullptr},
          stream{params.key != nullptr ? params.key[0] : 0,
                 params.key != nullptr ? params.key[1] : 0} {}

    // The exponent, of base 2, of a weight, from the product.
    C Exponent(int64_t query, int64_t key, C product) const {
        constexpr C kLog2E = C(1.4426950408889634);
        if (query >= p.queries || key >= p.keys || (p.is_causal != 0 && key > query)) {
            return -Infinity<C>();
        }
        const C x = product * static_cast<C>(p.scale * 1.4426950408889634);
        if (p.mask_dtype == 0) return x;
        const char* const at = mask + query * p.mask.row + key * p.mask.column;
        const auto add = [&](C m) { return xsimd::Fma(m, kLog2E, x); };
        switch (p.mask_dtype) {
            case 1:
                return *at != 0 ? x : -Infinity<C>();
            case 2:
                return add(
                    static_cast<C>(static_cast<float>(*reinterpret_cast<const Float16*>(at))));
            case 3:
                return add(
                    static_cast<C>(static_cast<float>(*reinterpret_cast<const BFloat16*>(at))));
            case 4:
                return add(static_cast<C>(*reinterpret_cast<const float*>(at)));
            default:
                return add(static_cast<C>(*reinterpret_cast<const double*>(at)));
        }
    }
    // Whether dropout takes a weight off, as the kernel Dropout for an array of all weights.
    bool Drops(int64_t query, int64_t key) const {
        if (p.key == nullptr) return false;
        const int64_t i = (matrix * p.queries + query) * p.keys + key;
        const philox::Block bits = stream.Get(static_cast<uint64_t>(i / 32 * 8 + i % 8));
        const int word = static_cast<int>(i % 32 / 8);
        return (word < 2    ? word == 0 ? bits.v[0] : bits.v[1]
                : word == 2 ? bits.v[2]
                            : bits.v[3]) < p.threshold;
    }
    C Factor(bool drops) const {
        return drops ? C(0) : p.key == nullptr ? C(1) : static_cast<C>(p.factor);
    }
    int64_t KeysSeen(int64_t end_of_queries) const {
        return p.is_causal != 0 && end_of_queries < p.keys ? end_of_queries : p.keys;
    }
};

}  // namespace chainerx::cuda
