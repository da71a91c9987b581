// Attention without materializing the scores: blocks of keys stream past a block of queries, whose
// softmax is updated online (M. Milakov, N. Gimelshein, "Online normalizer calculation for
// softmax", 2018; T. Dao et al., NeurIPS 2022).
#include <algorithm>
#include <limits>

#include "chainerx/kernels/attention/attention.h"
#include "chainerx/native/attention/attention_operands.h"
#include "chainerx/native/attention/attention_panels.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(attention, AttentionUnit)

namespace {

constexpr int64_t kMaxQueries = 256;
constexpr int64_t kMaxKeys = 256;
constexpr int64_t kMaxColumns = 64;

template <typename T>
class Forward {
    using C = ComputeType<T>;

 public:
    Forward(const Array& q, const Array& k, const Array& v, const Array& mask, const Array& key,
            const AttentionOptions& options, const Array& y, const Array& stats)
        : q_{WithElementStrides(q)},
          k_{WithElementStrides(k)},
          v_{WithElementStrides(v)},
          y_{y},
          stats_{stats.GetTotalSize() == 0 ? nullptr : reinterpret_cast<C*>(stats.raw_data())},
          options_{options},
          sizes_{q, k, v},
          extras_{mask, key, options, sizes_} {}

    void Run() const {
        const int64_t n_ranges = CeilDiv(sizes_.queries, kMaxQueries);
        const int64_t n = sizes_.matrices * n_ranges;
        const int64_t group = CountTogether(sizes_, kMaxQueries);
        ParallelFor(CeilDiv(n, group), [&](int64_t task) {
            Carver<C> plan{nullptr};
            Memory{plan, sizes_};
            const Scratch<C> memory{plan.size()};
            Carver<C> carver{memory.data()};
            const Memory m{carver, sizes_};
            for (int64_t i = task * group; i < std::min(n, (task + 1) * group); ++i) {
                internal::CheckInterrupt();
                RunRange(i / n_ranges, Range{sizes_.queries, n_ranges, i % n_ranges}, m);
            }
        });
    }

 private:
    // Work space of one thread.
    struct Memory {
        PackedB<C> queries;
        PackedA<C> keys;
        PackedA<C> values;
        C* outputs;  // one panel per panel of queries, a row per channel of a value
        C* most;     // running maximum of each query
        C* sums;
        C* scores;
        C* extras;
        C* rows;

        Memory(Carver<C>& carver, const AttentionSizes& sizes) {
            const int64_t columns = GemmLoopsOf<C>().columns;
            const int64_t most_keys = std::min(sizes.keys, kMaxKeys);
            const int64_t lanes = CeilDiv(std::min(sizes.queries, kMaxQueries), columns) * columns;
            queries = PackedB<C>::Take(carver, lanes, sizes.width);
            keys = PackedA<C>::Take(carver, most_keys, sizes.width);
            values = PackedA<C>::Take(carver, sizes.value_width, most_keys);
            outputs = carver.Take(lanes * sizes.value_width);
            most = carver.Take(lanes);
            sums = carver.Take(lanes);
            scores = carver.Take(columns * most_keys);
            extras = carver.Take(columns * most_keys);
            rows = carver.Take(
                std::max({AttentionExtras<C>::MemorySize(most_keys),
                          std::max(columns, most_keys) * std::max(sizes.width, sizes.value_width),
                          columns * columns}));
        }
    };

    void RunRange(int64_t matrix, const Range& queries, const Memory& m) const {
        const int64_t columns = GemmLoopsOf<C>().columns;
        const Lanes lanes{queries, columns};
        PackQueries(matrix, lanes, m);
        std::fill_n(m.most, lanes.count() * columns, -std::numeric_limits<C>::infinity());
        std::fill_n(m.sums, lanes.count() * columns, C{0});
        const int64_t end = options_.is_causal ? std::min(sizes_.keys, queries.end) : sizes_.keys;
        const int64_t n_blocks = CeilDiv(end, kMaxKeys);
        if (n_blocks == 0) {
            std::fill_n(m.outputs, lanes.count() * columns * sizes_.value_width, C{0});
        }
        for (int64_t b = 0; b < n_blocks; ++b) {
            if (b != 0) internal::CheckInterrupt();
            RunBlock(matrix, lanes, Range{end, n_blocks, b}, m);
        }
        const auto y = MatrixAt<T>(y_, matrix);
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range part = lanes.panel(p);
            C* outputs = m.outputs + p * columns * sizes_.value_width;
            attention_loops().Of<C>().finish(outputs, sizes_.value_width, m.most + p * columns,
                                             m.sums + p * columns);
            WriteTransposed(outputs, sizes_.value_width, part.size(), m.rows, y, part.begin);
        }
        if (stats_ != nullptr) {
            std::copy_n(m.most, queries.size(), stats_ + matrix * sizes_.queries + queries.begin);
        }
    }

    void PackQueries(int64_t matrix, const Lanes& lanes, const Memory& m) const {
        const auto q = MatrixAt<const T>(q_, matrix);
        if (IsFew(lanes)) {
            for (int64_t i = 0; i < lanes.all.size(); ++i) {
                C* to = m.queries.data + i * sizes_.width;
                for (int64_t j = 0; j < sizes_.width; ++j)
                    to[j] = Cast<C>(*q.at(i + lanes.all.begin, j));
            }
            return;
        }
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range part = lanes.panel(p);
            const auto x = ReadRows(q, part.begin, part.size(), sizes_.width, m.rows);
            GemmLoopsOf<C>().pack_b(x.data, x.column, x.row, part.size(), sizes_.width,
                                    m.queries.panel(p));
        }
    }
    // Whether keys and values are read in place; otherwise they are packed.
    bool IsFew(const Lanes& lanes) const {
        return AreFewQueries<T>(lanes.all.size(), lanes.width, k_, v_);
    }

    // Updates all of these queries with a block of keys.
    void RunBlock(int64_t matrix, const Lanes& lanes, const Range& keys, const Memory& m) const {
        const auto& loops = attention_loops().Of<C>();
        const int64_t columns = GemmLoopsOf<C>().columns;
        const int64_t key_matrix = matrix / sizes_.group();
        const bool is_few = IsFew(lanes);
        const auto read_keys = [&] {
            return ReadRows(MatrixAt<const T>(k_, key_matrix), keys.begin, keys.size(),
                            sizes_.width, m.rows);
        };
        const auto read_values = [&] {
            return ReadRows(MatrixAt<const T>(v_, key_matrix), keys.begin, keys.size(),
                            sizes_.value_width, m.rows);
        };
        if (!is_few) {
            m.keys.Pack(read_keys(), keys.size(), sizes_.width);
            m.values.Pack(Transposed(read_values()), sizes_.value_width, keys.size());
        }
        alignas(64) C factor[kMaxColumns];
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range part = lanes.panel(p);
            const Range seen{keys.begin,
                             options_.is_causal ? std::min(keys.end, part.end) : keys.end};
            if (seen.size() <= 0) continue;
            if (is_few) {
                const auto k = read_keys();
                loops.few_scores(m.queries.data, part.size(), sizes_.width, k.data, k.row,
                                 seen.size(), m.scores);
            } else {
                m.keys.Multiply(keys.size(), seen.size(), 0, sizes_.width, m.queries.panel(p),
                                m.scores, columns, columns, false);
            }
            C* outputs = m.outputs + p * columns * sizes_.value_width;
            const bool is_first = keys.begin == 0;
            if (loops.weigh(extras_.PanelOf(matrix, part, seen, m.rows, m.extras, m.scores),
                            m.most + p * columns, m.sums + p * columns, factor) &&
                !is_first) {
                loops.rescale(outputs, sizes_.value_width, factor);
            }
            if (extras_.has_dropout()) {
                extras_.DrawFactors(matrix, part, seen, m.rows, m.extras);
                loops.multiply(m.scores, seen.size(), m.extras);
            }
            if (is_few) {
                const auto v = read_values();
                loops.few_outputs(m.scores, part.size(), seen.size(), v.data, v.row,
                                  sizes_.value_width, !is_first, outputs);
            } else {
                m.values.Multiply(sizes_.value_width, sizes_.value_width, 0, seen.size(), m.scores,
                                  outputs, columns, columns, !is_first);
            }
        }
    }

    const Array q_;
    const Array k_;
    const Array v_;
    const Array y_;
    C* const stats_;
    const AttentionOptions options_;
    const AttentionSizes sizes_;
    const AttentionExtras<C> extras_;
};

void Attention(const Array& q, const Array& k, const Array& v, const Array& mask, const Array& key,
               const AttentionOptions& options, const Array& y, const Array& stats) {
    VisitFloat(y.dtype(),
               [&]<typename T>() { Forward<T>{q, k, v, mask, key, options, y, stats}.Run(); });
}
CX_NATIVE_KERNEL(Attention)

}  // namespace
}  // namespace chainerx::native
