// Attention: a block has a tile of queries, past which the keys stream, and kColumns tiles of
// columns of the values.
#pragma once

#include "chainerx/cuda/attention/device/scores.h"

namespace chainerx::cuda {

template <typename T, int kColumns>
inline void Attention(const AttentionParams& p) {
    using C = Number<T>;
    using Product = TileProduct<T, kTile>;
    CX_ATTENTION_TILES(T, tiles);
    CX_SHARED(C, factors, kTile);
    const auto [column, first, matrix] = BlockPlace{p, kColumns * kTile};
    const ScoreTerms<C> terms{p, matrix};
    const char* const q = QueriesOf(p, p.q, matrix);
    const char* const k = KeysOf(p, p.k, matrix / p.group);
    const char* const v = KeysOf(p, p.v, matrix / p.group);
    const TileOf queries = RowsOf(q, p.q, first, p.queries, p.width);
    const int row = tiles.Row();
    C most = -Infinity<C>();
    C sum = C(0);
    C outputs[kColumns][kEachOfTile] = {};
    const int64_t end = terms.KeysSeen(first + kTile);
    for (int64_t key = 0; key < end; key += kTile) {
        {
            Product product;
            tiles.Add(product, queries, RowsOf(k, p.k, key, p.keys, p.width));
            tiles.Store(product);
        }
        C max = most;
#pragma unroll 1
        for (int u = 0; u < kEachOfTile; ++u) {
            C& x = tiles.Score(row, tiles.Column(u));
            x = terms.Exponent(first + row, key + tiles.Column(u), x);
            max = x > max ? x : max;
        }
#pragma unroll
        for (int w = 1; w < kRowLanes; w *= 2) {
            const C other = __shfl_xor_sync(0xffffffffu, max, w);
            max = other > max ? other : max;
        }
        // If no key has taken part so far, the maximum is -inf, and any other number counts.
        const C base = max == -Infinity<C>() ? C(0) : max;
        const C factor = PowerOf2(most - base);
        most = max;
        C total = C(0);
#pragma unroll 1
        for (int u = 0; u < kEachOfTile; ++u) {
            C& x = tiles.Score(row, tiles.Column(u));
            const C y = PowerOf2(x - base);
            total += y;
            x = y * terms.Factor(terms.Drops(first + row, key + tiles.Column(u)));
        }
#pragma unroll
        for (int w = 1; w < kRowLanes; w *= 2) total += __shfl_xor_sync(0xffffffffu, total, w);
        sum = xsimd::Fma(sum, factor, total);
        if (tiles.Column(0) == 0) factors[row] = factor;
        {
            C x[kEachOfTile];
#pragma unroll
            for (int u = 0; u < kEachOfTile; ++u) x[u] = tiles.Score(row, tiles.Column(u));
            tiles.PutShare(x, false);
        }
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
            Product product;
            tiles.AddWeighted(product, ColumnsOf(v, p.v, column + c * kTile, p.keys, p.value_width),
                              key);
            int n = 0;
            product.ForEach([&](int i, int, C y) {
                outputs[c][n] = outputs[c][n] * factors[i] + y;
                ++n;
            });
        }
        __syncthreads();
    }
    if (tiles.Column(0) == 0) {
        factors[row] = sum;
        const int64_t query = first + row;
        if (p.stats != nullptr && column == 0 && query < p.queries) {
            C* const stats = At<C>(p.stats);
            stats[matrix * p.queries + query] =
                sum == C(0) ? Infinity<C>()
                            : most + native::CX_ISA::math::Log2(xsimd::batch<C>(sum)).v;
        }
    }
    __syncthreads();
    char* const y = const_cast<char*>(QueriesOf(p, p.y, matrix));
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
        int n = 0;
        Product{}.ForEach([&](int i, int j, C) {
            const int64_t at = column + c * kTile + j;
            if (first + i < p.queries && at < p.value_width) {
                const C s = factors[i];
                reinterpret_cast<T*>(y + (first + i) * p.y.row)[at] =
                    static_cast<T>(s == C(0) ? C(0) : outputs[c][n] / s);
            }
            ++n;
        });
    }
}

}  // namespace chainerx::cuda
