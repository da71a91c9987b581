// Gradients of attention. With weights w and gradients s of the scores (attention_weights.h): gv =
// w^T gy, gk = s^T q, gq = s k.
#include <algorithm>
#include <type_traits>

#include "chainerx/kernels/attention/attention.h"
#include "chainerx/native/attention/attention_panels.h"
#include "chainerx/native/attention/attention_weights.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// Accumulators of the gradients of one matrix of keys and values.
template <typename C>
struct KeyGrads {
    StridedMatrix<C> k;
    StridedMatrix<C> v;
};

template <typename T>
class Backward {
    using C = ComputeType<T>;
    using Weights = AttentionWeights<T>;
    static constexpr int64_t kMaxQueries = Weights::kMaxQueries;

    // Requested gradients.
    struct Wanted {
        bool q;
        bool k;
        bool v;
    };

    // Work space of one thread.
    struct Memory : Weights::Memory {
        PackedB<C> q;  // a row per query
        PackedB<C> gy;
        PackedA<C> k_transposed;
        PackedA<C> transposed_weights;  // of all panels of queries
        PackedA<C> transposed_slopes;
        C* gq;  // one panel per panel of queries, a row per channel of a query

        Memory(Carver<C>& carver, const AttentionSizes& sizes) : Weights::Memory{carver, sizes} {
            const int64_t columns = GemmLoopsOf<C>().columns;
            const int64_t keys = std::min(sizes.keys, Weights::kMaxKeys);
            const int64_t lanes = CeilDiv(std::min(sizes.queries, kMaxQueries), columns) * columns;
            q = PackedB<C>::Take(carver, sizes.width, lanes);
            gy = PackedB<C>::Take(carver, sizes.value_width, lanes);
            k_transposed = PackedA<C>::Take(carver, sizes.width, keys);
            transposed_weights = PackedA<C>::Take(carver, keys, lanes);
            transposed_slopes = PackedA<C>::Take(carver, keys, lanes);
            gq = carver.Take(lanes * sizes.width);
        }
    };

 public:
    Backward(const Weights& weights, const Array& gq, const Array& gk, const Array& gv)
        : weights_{weights},
          sizes_{weights.sizes()},
          gq_{gq},
          gk_{gk},
          gv_{gv},
          wanted_{gq.ndim() >= 2, gk.ndim() >= 2, gv.ndim() >= 2},
          n_ranges_{CeilDiv(sizes_.queries, kMaxQueries)},
          n_parts_{CountParts()} {}

    void Run() const {
        const int64_t n = sizes_.key_matrices * n_parts_;
        const int64_t group = n_parts_ > 1 ? 1 : CountTogether(sizes_, kMaxQueries);
        const bool is_direct = IsDirect();
        const Scratch<C> sums{!is_direct && n_parts_ > 1 ? n * SumSize() : 0};
        ParallelFor(CeilDiv(n, group), [&](int64_t task) {
            Carver<C> plan{nullptr};
            Memory{plan, sizes_};
            const Scratch<C> memory{plan.size()};
            const Scratch<C> sum{!is_direct && n_parts_ == 1 ? SumSize() : 0};
            Carver<C> carver{memory.data()};
            const Memory m{carver, sizes_};
            for (int64_t i = task * group; i < std::min(n, (task + 1) * group); ++i) {
                const int64_t matrix = i / n_parts_;
                C* at = n_parts_ > 1 ? sums.data() + i * SumSize() : sum.data();
                RunPart(matrix, i % n_parts_, is_direct ? Direct(matrix) : Partial(at), m);
                if (!is_direct && n_parts_ == 1) AddUp(matrix, at);
            }
        });
        if (n_parts_ == 1) return;
        ParallelFor(sizes_.key_matrices, [&](int64_t matrix) {
            AddUp(matrix, sums.data() + matrix * n_parts_ * SumSize());
        });
    }

 private:
    // If there are few matrices of keys, their gradients are partial sums, so that threads share
    // the work.
    int64_t CountParts() const {
        constexpr int64_t kEnough = 16;
        constexpr int64_t kMax = 8;
        if (sizes_.key_matrices == 0) return 1;
        const int64_t wanted = CeilDiv(kEnough, sizes_.key_matrices);
        return std::clamp<int64_t>(sizes_.group() * n_ranges_, 1, std::min(wanted, kMax));
    }
    // Whether sums are accumulated in the results themselves.
    bool IsDirect() const { return std::is_same_v<T, C> && n_parts_ == 1; }
    int64_t SumSize() const {
        return sizes_.keys *
               ((wanted_.k ? sizes_.width : 0) + (wanted_.v ? sizes_.value_width : 0));
    }
    KeyGrads<C> Direct(int64_t matrix) const {
        KeyGrads<C> grads{};
        if constexpr (std::is_same_v<T, C>) {
            if (wanted_.k) grads.k = MatrixAt<C>(gk_, matrix);
            if (wanted_.v) grads.v = MatrixAt<C>(gv_, matrix);
        }
        return grads;
    }
    KeyGrads<C> Partial(C* memory) const {
        const int64_t k_size = wanted_.k ? sizes_.keys * sizes_.width : 0;
        return {{memory, sizes_.width, 1}, {memory + k_size, sizes_.value_width, 1}};
    }
    // Adds up all parts, in order.
    void AddUp(int64_t matrix, const C* memory) const {
        const auto add = [&](const Array& grad, const C* from, int64_t width) {
            const auto to = MatrixAt<T>(grad, matrix);
            for (int64_t i = 0; i < sizes_.keys; ++i) {
                for (int64_t j = 0; j < width; ++j) {
                    C sum{0};
                    for (int64_t p = 0; p < n_parts_; ++p) {
                        sum += from[p * SumSize() + i * width + j];
                    }
                    *to.at(i, j) = Cast<T>(sum);
                }
            }
        };
        if (wanted_.k) add(gk_, memory, sizes_.width);
        if (wanted_.v) {
            add(gv_, memory + (wanted_.k ? sizes_.keys * sizes_.width : 0), sizes_.value_width);
        }
    }

    // Handles some of the queries that attend to a matrix of keys.
    void RunPart(int64_t key_matrix, int64_t part, const KeyGrads<C>& grads,
                 const Memory& m) const {
        const Range ranges{sizes_.group() * n_ranges_, n_parts_, part};
        // The first range initializes all sums, if it covers all keys.
        const bool is_added = weights_.options().is_causal || ranges.size() == 0;
        for (int64_t i = 0; is_added && i < sizes_.keys; ++i) {
            if (wanted_.k) std::fill_n(grads.k.at(i, 0), sizes_.width, C{0});
            if (wanted_.v) std::fill_n(grads.v.at(i, 0), sizes_.value_width, C{0});
        }
        for (int64_t r = ranges.begin; r < ranges.end; ++r) {
            RunRange(key_matrix * sizes_.group() + r / n_ranges_,
                     Range{sizes_.queries, n_ranges_, r % n_ranges_}, grads,
                     is_added || r != ranges.begin, m);
        }
    }

    void RunRange(int64_t matrix, const Range& queries, const KeyGrads<C>& grads, bool is_added,
                  const Memory& m) const {
        const int64_t columns = GemmLoopsOf<C>().columns;
        const Lanes lanes{queries, columns};
        weights_.PackQueries(matrix, lanes, m);
        const bool is_few = weights_.IsFew(lanes);
        if (wanted_.k && !is_few) {
            m.q.Pack(weights_.ReadQueries(matrix, queries, m), sizes_.width, queries.size());
        }
        if (wanted_.v && !is_few) {
            m.gy.Pack(weights_.ReadGrads(matrix, queries, m), sizes_.value_width, queries.size());
        }
        const int64_t end = weights_.CountKeys(queries);
        const int64_t n_blocks = CeilDiv(end, Weights::kMaxKeys);
        for (int64_t b = 0; b < n_blocks; ++b) {
            internal::CheckInterrupt();
            const Range keys{end, n_blocks, b};
            if (is_few) {
                RunFew(matrix, lanes, keys, grads, is_added, m);
            } else {
                RunBlock(matrix, lanes, keys, grads, is_added, m);
            }
        }
        if (!wanted_.q) return;
        const auto gq = MatrixAt<T>(gq_, matrix);
        if (n_blocks == 0) std::fill_n(m.gq, lanes.count() * columns * sizes_.width, C{0});
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range part = lanes.panel(p);
            WriteTransposed(m.gq + p * columns * sizes_.width, sizes_.width, part.size(), m.rows,
                            gq, part.begin);
        }
    }

    void RunBlock(int64_t matrix, const Lanes& lanes, const Range& keys, const KeyGrads<C>& grads,
                  bool is_added, const Memory& m) const {
        const int64_t columns = lanes.width;
        weights_.PackKeys(matrix, lanes, keys, m);
        if (wanted_.q) {
            m.k_transposed.Pack(Transposed(weights_.ReadKeys(matrix, keys, m)), sizes_.width,
                                keys.size());
        }
        int64_t first = lanes.count();  // first panel of queries that attends to any of the keys
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range seen = weights_.Seen(keys, lanes.panel(p));
            if (seen.size() <= 0) continue;
            first = std::min(first, p);
            RunPanel(matrix, lanes, p, keys, seen, m);
        }
        const int64_t at = first * columns;
        const int64_t depth = lanes.all.size() - at;
        if (depth <= 0) return;
        const auto add = [&](const PackedA<C>& a, const PackedB<C>& b, const StridedMatrix<C>& c,
                             int64_t width) {
            for (int64_t j = 0; j < width; j += columns) {
                a.Multiply(keys.size(), keys.size(), at, depth, b.data + j * b.depth + at * columns,
                           c.at(keys.begin, j), c.row, std::min(columns, width - j), is_added);
            }
        };
        if (wanted_.v) add(m.transposed_weights, m.gy, grads.v, sizes_.value_width);
        if (wanted_.k) add(m.transposed_slopes, m.q, grads.k, sizes_.width);
    }

    // Without packing, which would take longer than the products.
    void RunFew(int64_t matrix, const Lanes& lanes, const Range& keys, const KeyGrads<C>& grads,
                bool is_added, const Memory& m) const {
        const auto& loops = attention_loops().Of<C>();
        const int64_t n = lanes.all.size();
        const Range seen = weights_.Seen(keys, lanes.all);
        if (seen.size() <= 0) return;
        weights_.Run(matrix, lanes, 0, keys, seen, weights_.options().scale, m);
        if (wanted_.q) {
            const auto k = weights_.ReadKeys(matrix, seen, m);
            loops.few_outputs(m.slopes, n, seen.size(), k.data, k.row, sizes_.width,
                              keys.begin != 0, m.gq);
        }
        if (wanted_.v) {
            loops.few_rows(m.weights, n, seen.size(), m.gy_transposed.data, sizes_.value_width,
                           is_added, grads.v.at(keys.begin, 0), grads.v.row);
        }
        if (wanted_.k) {
            loops.few_rows(m.slopes, n, seen.size(), m.q_transposed.data, sizes_.width, is_added,
                           grads.k.at(keys.begin, 0), grads.k.row);
        }
    }

    void RunPanel(int64_t matrix, const Lanes& lanes, int64_t p, const Range& keys,
                  const Range& seen, const Memory& m) const {
        const int64_t columns = lanes.width;
        weights_.Run(matrix, lanes, p, keys, seen, weights_.options().scale, m);
        if (wanted_.q) {
            m.k_transposed.Multiply(sizes_.width, sizes_.width, 0, seen.size(), m.slopes,
                                    m.gq + p * columns * sizes_.width, columns, columns,
                                    keys.begin != 0);
        }
        const auto transpose = [&](C* panel, const PackedA<C>& to) {
            const int64_t unseen = keys.size() - seen.size();
            std::fill_n(panel + seen.size() * columns, unseen * columns, C{0});
            to.PackAt({panel, columns, 1}, keys.size(), p * columns, lanes.panel(p).size());
        };
        if (wanted_.v) transpose(m.weights, m.transposed_weights);
        if (wanted_.k) transpose(m.slopes, m.transposed_slopes);
    }

    const Weights& weights_;
    const AttentionSizes sizes_;
    const Array gq_;
    const Array gk_;
    const Array gv_;
    const Wanted wanted_;
    const int64_t n_ranges_;
    const int64_t n_parts_;
};

void AttentionGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                   const Array& key, const AttentionOptions& options, const Array& y,
                   const Array& stats, const Array& gy, const Array& gq, const Array& gk,
                   const Array& gv) {
    VisitFloat(y.dtype(), [&]<typename T>() {
        const AttentionWeights<T> weights{q, k, v, mask, key, options, y, stats, gy};
        Backward<T>{weights, gq, gk, gv}.Run();
    });
}
CX_NATIVE_KERNEL(AttentionGrad)

}  // namespace
}  // namespace chainerx::native
