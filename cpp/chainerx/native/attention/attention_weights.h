// Backward pass of attention: recomputes the weights of a block and the gradients of its scores.
// With weights w and their gradient gw = gy v^T, the latter are w (gw - sum(w gw)), where the sum
// equals that of y gy.
#pragma once

#include <algorithm>
#include <limits>

#include "chainerx/native/attention/attention_operands.h"
#include "chainerx/native/attention/attention_panels.h"

namespace chainerx::native {

template <typename T>
class AttentionWeights {
    using C = ComputeType<T>;

 public:
    static constexpr int64_t kMaxQueries = 256;
    static constexpr int64_t kMaxKeys = 128;

    // Work space of one thread.
    struct Memory {
        PackedB<C> q_transposed;  // one lane per query; rows, if queries are few
        PackedB<C> gy_transposed;
        C* stats;
        C* deltas;
        PackedA<C> k;
        PackedA<C> v;
        C* weights;  // one panel
        C* slopes;
        C* extras;
        C* rows;

        Memory(Carver<C>& carver, const AttentionSizes& sizes) {
            const int64_t columns = GemmLoopsOf<C>().columns;
            const int64_t keys = std::min(sizes.keys, kMaxKeys);
            const int64_t lanes = CeilDiv(std::min(sizes.queries, kMaxQueries), columns) * columns;
            const int64_t widest = std::max(sizes.width, sizes.value_width);
            q_transposed = PackedB<C>::Take(carver, lanes, sizes.width);
            gy_transposed = PackedB<C>::Take(carver, lanes, sizes.value_width);
            stats = carver.Take(lanes);
            deltas = carver.Take(lanes);
            k = PackedA<C>::Take(carver, keys, sizes.width);
            v = PackedA<C>::Take(carver, keys, sizes.value_width);
            weights = carver.Take(columns * keys);
            slopes = carver.Take(columns * keys);
            extras = carver.Take(columns * keys);
            rows = carver.Take(std::max({AttentionExtras<C>::MemorySize(keys),
                                         std::max(kMaxQueries, keys) * widest, columns * widest * 2,
                                         columns * columns}));
        }
    };

    AttentionWeights(const Array& q, const Array& k, const Array& v, const Array& mask,
                     const Array& key, const AttentionOptions& options, const Array& y,
                     const Array& stats, const Array& gy)
        : q_{WithElementStrides(q)},
          k_{WithElementStrides(k)},
          v_{WithElementStrides(v)},
          y_{WithElementStrides(y)},
          gy_{WithElementStrides(gy)},
          stats_{reinterpret_cast<const C*>(stats.raw_data())},
          options_{options},
          sizes_{q, k, v},
          extras_{mask, key, options, sizes_} {}

    const AttentionSizes& sizes() const { return sizes_; }
    const AttentionOptions& options() const { return options_; }
    // Number of keys that any of the queries attends to.
    int64_t CountKeys(const Range& queries) const {
        return options_.is_causal ? std::min(sizes_.keys, queries.end) : sizes_.keys;
    }
    // The part of `keys` that the queries attend to; its size is not positive if they come later.
    Range Seen(const Range& keys, const Range& queries) const {
        return {keys.begin, std::min(keys.end, CountKeys(queries))};
    }

    // Rows of these operands, for further products; valid until m.rows is reused.
    StridedMatrix<const C> ReadQueries(int64_t matrix, const Range& all, const Memory& m) const {
        return ReadRows(MatrixAt<const T>(q_, matrix), all.begin, all.size(), sizes_.width, m.rows);
    }
    StridedMatrix<const C> ReadGrads(int64_t matrix, const Range& all, const Memory& m) const {
        return ReadRows(MatrixAt<const T>(gy_, matrix), all.begin, all.size(), sizes_.value_width,
                        m.rows);
    }
    StridedMatrix<const C> ReadKeys(int64_t matrix, const Range& keys, const Memory& m) const {
        return ReadRows(MatrixAt<const T>(k_, matrix / sizes_.group()), keys.begin, keys.size(),
                        sizes_.width, m.rows);
    }

    // Whether keys and values are read in place; otherwise they are packed.
    bool IsFew(const Lanes& lanes) const {
        return AreFewQueries<T>(lanes.all.size(), lanes.width, k_, v_);
    }

    void PackQueries(int64_t matrix, const Lanes& lanes, const Memory& m) const {
        // Lanes beyond the last query get weights of 0.
        std::fill_n(m.stats, lanes.count() * lanes.width, std::numeric_limits<C>::infinity());
        std::copy_n(stats_ + matrix * sizes_.queries + lanes.all.begin, lanes.all.size(), m.stats);
        if (IsFew(lanes)) {
            CopyFew(matrix, lanes, m);
            return;
        }
        const auto pack = [&](const StridedMatrix<const C>& x, int64_t width,
                              const PackedB<C>& to) {
            for (int64_t p = 0; p < lanes.count(); ++p) {
                GemmLoopsOf<C>().pack_b(x.at(p * lanes.width, 0), x.column, x.row,
                                        lanes.panel(p).size(), width, to.panel(p));
            }
        };
        const Range& all = lanes.all;
        pack(ReadQueries(matrix, all, m), sizes_.width, m.q_transposed);
        pack(ReadGrads(matrix, all, m), sizes_.value_width, m.gy_transposed);
        C* transposed = m.rows;
        C* memory = m.rows + lanes.width * sizes_.value_width;
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range part = lanes.panel(p);
            const auto y = ReadRows(MatrixAt<const T>(y_, matrix), part.begin, part.size(),
                                    sizes_.value_width, memory);
            GemmLoopsOf<C>().pack_b(y.data, y.column, y.row, part.size(), sizes_.value_width,
                                    transposed);
            attention_loops().Of<C>().dot(transposed, m.gy_transposed.panel(p), sizes_.value_width,
                                          m.deltas + p * lanes.width);
        }
    }

    void PackKeys(int64_t matrix, const Lanes& lanes, const Range& keys, const Memory& m) const {
        if (IsFew(lanes)) return;
        m.k.Pack(ReadKeys(matrix, keys, m), keys.size(), sizes_.width);
        m.v.Pack(ReadValues(matrix, keys, m), keys.size(), sizes_.value_width);
    }

    // Computes m.weights, after dropout, and m.slopes (`scale` times the gradients of scores) of
    // panel p of the queries and of those keys passed to PackKeys that it attends to.
    void Run(int64_t matrix, const Lanes& lanes, int64_t p, const Range& keys, const Range& seen,
             double scale, const Memory& m) const {
        const auto& loops = attention_loops().Of<C>();
        const int64_t columns = lanes.width;
        const Range queries = lanes.panel(p);
        if (IsFew(lanes)) {
            const auto k = ReadKeys(matrix, seen, m);
            loops.few_scores(m.q_transposed.data, queries.size(), sizes_.width, k.data, k.row,
                             seen.size(), m.weights);
            const auto v = ReadValues(matrix, seen, m);
            loops.few_scores(m.gy_transposed.data, queries.size(), sizes_.value_width, v.data,
                             v.row, seen.size(), m.slopes);
        } else {
            m.k.Multiply(keys.size(), seen.size(), 0, sizes_.width, m.q_transposed.panel(p),
                         m.weights, columns, columns, false);
            m.v.Multiply(keys.size(), seen.size(), 0, sizes_.value_width, m.gy_transposed.panel(p),
                         m.slopes, columns, columns, false);
        }
        loops.weights(extras_.PanelOf(matrix, queries, seen, m.rows, m.extras, m.weights),
                      m.stats + p * columns);
        if (extras_.has_dropout()) extras_.DrawFactors(matrix, queries, seen, m.rows, m.extras);
        loops.slopes(m.weights, m.slopes, extras_.has_dropout() ? m.extras : nullptr, seen.size(),
                     m.deltas + p * columns, static_cast<C>(scale));
    }

 private:
    StridedMatrix<const C> ReadValues(int64_t matrix, const Range& keys, const Memory& m) const {
        return ReadRows(MatrixAt<const T>(v_, matrix / sizes_.group()), keys.begin, keys.size(),
                        sizes_.value_width, m.rows);
    }

    // Copies the rows of queries and gradients, one after the other, and the sums of y gy.
    void CopyFew(int64_t matrix, const Lanes& lanes, const Memory& m) const {
        const auto q = MatrixAt<const T>(q_, matrix);
        const auto y = MatrixAt<const T>(y_, matrix);
        const auto gy = MatrixAt<const T>(gy_, matrix);
        std::fill_n(m.deltas, lanes.width, C{0});
        for (int64_t i = 0; i < lanes.all.size(); ++i) {
            const int64_t row = lanes.all.begin + i;
            C* to = m.q_transposed.data + i * sizes_.width;
            for (int64_t j = 0; j < sizes_.width; ++j) to[j] = Cast<C>(*q.at(row, j));
            to = m.gy_transposed.data + i * sizes_.value_width;
            for (int64_t j = 0; j < sizes_.value_width; ++j) {
                to[j] = Cast<C>(*gy.at(row, j));
                m.deltas[i] += to[j] * Cast<C>(*y.at(row, j));
            }
        }
    }

    const Array q_;
    const Array k_;
    const Array v_;
    const Array y_;
    const Array gy_;
    const C* const stats_;
    const AttentionOptions options_;
    const AttentionSizes sizes_;
    const AttentionExtras<C> extras_;
};

}  // namespace chainerx::native
