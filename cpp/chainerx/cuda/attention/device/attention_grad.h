// Gradients of attention. With weights w and their gradient gw = gy v^T, those of scores are
// w (gw - sum(w gw)), where the sum is that of y gy.
#pragma once

#include "chainerx/cuda/attention/device/scores.h"
#include "chainerx/cuda/norm/device/group.h"

namespace chainerx::cuda {

// Sums of y gy, by a warp each.
template <typename T>
inline void AttentionDeltas(const AttentionParams& p) {
    using C = Number<T>;
    using Warp = Group<32>;
    const int64_t i = Warp::Row();
    if (i >= p.matrices * p.queries) return;
    const int64_t matrix = i / p.queries;
    const int64_t row = i - matrix * p.queries;
    const char* const y = QueriesOf(p, p.y, matrix) + row * p.y.row;
    const char* const gy = QueriesOf(p, p.gy, matrix) + row * p.gy.row;
    C sum = C(0);
    for (int64_t j = Warp::Lane(); j < p.value_width; j += 32) {
        sum = xsimd::Fma(static_cast<C>(*reinterpret_cast<const T*>(y + j * p.y.column)),
                         static_cast<C>(*reinterpret_cast<const T*>(gy + j * p.gy.column)), sum);
    }
    sum = Warp::Sum(sum);
    if (Warp::Lane() == 0) At<C>(p.deltas)[i] = sum;
}

// Weights after dropout, and `scale` times the gradients of scores, of this thread's share of a
// row.
template <typename T>
struct Slopes {
    using C = Number<T>;
    using Product = TileProduct<T, kTile>;

    C weights[kEachOfTile];
    C slopes[kEachOfTile];

    Slopes(const AttentionParams& p, const AttentionTiles<T>& tiles, int64_t matrix,
           int64_t first_query, int64_t key, C scale) {
        const ScoreTerms<C> terms{p, matrix};
        const int row = tiles.Row();
        const int64_t query = first_query + row;
        const bool is_inside = query < p.queries;
        const int64_t place = matrix * p.queries + (is_inside ? query : 0);
        const C stat = At<const C>(p.stats)[place];
        const C delta = At<const C>(p.deltas)[place];
        const int64_t key_matrix = matrix / p.group;
        {
            Product product;
            tiles.Add(product,
                      RowsOf(QueriesOf(p, p.q, matrix), p.q, first_query, p.queries, p.width),
                      RowsOf(KeysOf(p, p.k, key_matrix), p.k, key, p.keys, p.width));
            tiles.Store(product);
        }
        uint32_t dropped = 0;
#pragma unroll 1
        for (int u = 0; u < kEachOfTile; ++u) {
            C& x = tiles.Score(row, tiles.Column(u));
            const int64_t at = key + tiles.Column(u);
            x = is_inside ? PowerOf2(terms.Exponent(query, at, x) - stat) : C(0);
            dropped |= (terms.Drops(query, at) ? 1u : 0u) << u;
        }
#pragma unroll
        for (int u = 0; u < kEachOfTile; ++u) weights[u] = tiles.Score(row, tiles.Column(u));
        __syncthreads();
        {
            Product product;
            tiles.Add(
                product,
                RowsOf(QueriesOf(p, p.gy, matrix), p.gy, first_query, p.queries, p.value_width),
                RowsOf(KeysOf(p, p.v, key_matrix), p.v, key, p.keys, p.value_width));
            tiles.Store(product);
        }
#pragma unroll
        for (int u = 0; u < kEachOfTile; ++u) {
            const C factor = terms.Factor((dropped >> u & 1) != 0);
            const C y = tiles.Score(row, tiles.Column(u));
            const bool counts = is_inside && key + tiles.Column(u) < p.keys;
            slopes[u] = counts ? weights[u] * scale * (y * factor - delta) : C(0);
            weights[u] *= factor;
        }
    }
};

template <typename T>
inline void StoreTile(const TileProduct<T, kTile>& product, char* x, const MatricesOf& of,
                      int64_t row, int64_t rows, int64_t column, int64_t columns) {
    product.ForEach([&](int i, int j, Number<T> y) {
        if (row + i < rows && column + j < columns) {
            reinterpret_cast<T*>(x + (row + i) * of.row)[column + j] = static_cast<T>(y);
        }
    });
}

// The gradient of queries: a tile of queries and one of their columns.
template <typename T>
inline void AttentionGradQueries(const AttentionParams& p) {
    using C = Number<T>;
    CX_ATTENTION_TILES(T, tiles);
    const auto [column, first, matrix] = BlockPlace{p, kTile};
    const char* const k = KeysOf(p, p.k, matrix / p.group);
    const int64_t end = ScoreTerms<C>{p, matrix}.KeysSeen(first + kTile);
    TileProduct<T, kTile> sums;
    for (int64_t key = 0; key < end; key += kTile) {
        const Slopes<T> of{p, tiles, matrix, first, key, static_cast<C>(p.scale)};
        tiles.PutShare(of.slopes, false);
        tiles.AddWeighted(sums, ColumnsOf(k, p.k, column, p.keys, p.width), key);
    }
    StoreTile(sums, const_cast<char*>(QueriesOf(p, p.gq, matrix)), p.gq, first, p.queries, column,
              p.width);
}

// The gradients of keys and values, or of one of both: a tile of keys and one of their columns.
template <typename T, bool kOfKeys, bool kOfValues>
inline void AttentionGradKeys(const AttentionParams& p) {
    using C = Number<T>;
    CX_ATTENTION_TILES(T, tiles);
    const auto [column, first, key_matrix] = BlockPlace{p, kTile};
    const bool has_k = kOfKeys && p.gk.data != nullptr && column < p.width;
    const bool has_v = kOfValues && p.gv.data != nullptr && column < p.value_width;
    TileProduct<T, kTile> gk;
    TileProduct<T, kTile> gv;
    for (int64_t head = 0; head < p.group; ++head) {
        const int64_t matrix = key_matrix * p.group + head;
        const char* const q = QueriesOf(p, p.q, matrix);
        const char* const gy = QueriesOf(p, p.gy, matrix);
        for (int64_t query = p.is_causal != 0 ? first : 0; query < p.queries; query += kTile) {
            const Slopes<T> of{p, tiles, matrix, query, first, static_cast<C>(p.scale)};
            if (has_v) {
                tiles.PutShare(of.weights, true);
                tiles.AddWeighted(gv, ColumnsOf(gy, p.gy, column, p.queries, p.value_width), query);
            }
            if (has_k) {
                tiles.PutShare(of.slopes, true);
                tiles.AddWeighted(gk, ColumnsOf(q, p.q, column, p.queries, p.width), query);
            }
        }
    }
    if (has_k) {
        StoreTile(gk, const_cast<char*>(KeysOf(p, p.gk, key_matrix)), p.gk, first, p.keys, column,
                  p.width);
    }
    if (has_v) {
        StoreTile(gv, const_cast<char*>(KeysOf(p, p.gv, key_matrix)), p.gv, first, p.keys, column,
                  p.value_width);
    }
}

template <typename C>
inline void StoreMask(const AttentionParams& p, int64_t i, C x) {
    char* const to = p.gmask;
    switch (p.mask_dtype) {
        case 2:
            reinterpret_cast<Float16*>(to)[i] = Float16(x);
            break;
        case 3:
            reinterpret_cast<BFloat16*>(to)[i] = BFloat16(x);
            break;
        case 4:
            reinterpret_cast<float*>(to)[i] = static_cast<float>(x);
            break;
        default:
            reinterpret_cast<double*>(to)[i] = static_cast<double>(x);
    }
}

// The gradient of the mask: a tile of it, from all scores that it sums, one after the other.
template <typename T>
inline void AttentionGradMask(const AttentionParams& p) {
    using C = Number<T>;
    CX_ATTENTION_TILES(T, tiles);
    const auto [column, row, of_mask] = BlockPlace{p, kTile};
    int64_t sharers = 1;
    for (int d = 0; d < p.batch_ndim; ++d) {
        if (p.mask_sizes[d] != p.batch_sizes[d]) sharers *= p.batch_sizes[d];
    }
    C sums[kEachOfTile] = {};
    for (int64_t s = 0; s < sharers; ++s) {
        int64_t matrix = 0;
        int64_t step = 1;
        int64_t shared = s;
        int64_t own = of_mask;
        for (int d = p.batch_ndim - 1; d >= 0; --d) {
            int64_t& from = p.mask_sizes[d] != p.batch_sizes[d] ? shared : own;
            matrix += from % p.batch_sizes[d] * step;
            from /= p.batch_sizes[d];
            step *= p.batch_sizes[d];
        }
        const int64_t last_query = p.has_queries != 0 ? row : p.queries - 1;
        for (int64_t query = row; query <= last_query; query += kTile) {
            const int64_t seen = ScoreTerms<C>{p, matrix}.KeysSeen(query + kTile);
            const int64_t last_key = p.has_keys != 0 ? column : p.keys - 1;
            for (int64_t key = column; key <= last_key && key < seen; key += kTile) {
                const Slopes<T> of{p, tiles, matrix, query, key, C(1)};
#pragma unroll
                for (int n = 0; n < kEachOfTile; ++n) sums[n] += of.slopes[n];
                __syncthreads();
            }
        }
    }
#pragma unroll
    for (int u = 0; u < kEachOfTile; ++u) tiles.Score(tiles.Row(), tiles.Column(u)) = sums[u];
    __syncthreads();
    const int64_t columns = p.has_keys != 0 ? p.keys : 1;
    const int64_t rows = p.has_queries != 0 ? p.queries : 1;
    for (int e = static_cast<int>(threadIdx.x); e < kTile * kTile; e += kBlockThreads) {
        const int i = e / kTile;
        const int j = e % kTile;
        if (row + i >= rows || column + j >= columns) continue;
        C sum = C(0);
        for (int k = i; k < (p.has_queries != 0 ? i + 1 : kTile); ++k) {
            for (int l = j; l < (p.has_keys != 0 ? j + 1 : kTile); ++l) sum += tiles.Score(k, l);
        }
        StoreMask(p, (of_mask * rows + row + i) * columns + column + j, sum);
    }
}

}  // namespace chainerx::cuda
