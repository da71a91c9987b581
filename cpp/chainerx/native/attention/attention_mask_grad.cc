// The gradient of an attention mask: that of the scores, summed over the axes along which the mask
// was broadcast. The task of a block of the result computes all blocks of scores that it sums, one
// after the other, so no scores are materialized.
#include <algorithm>

#include "chainerx/kernels/attention/attention.h"
#include "chainerx/native/attention/attention_panels.h"
#include "chainerx/native/attention/attention_weights.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// The matrices of scores that share one matrix of the mask.
class Sharers {
 public:
    // `all` are the leading axes of all scores, `mask` those of the mask, of the same number.
    Sharers(const Shape& all, const Shape& mask) : mask_{mask} {
        for (int8_t d = 0; d < mask.ndim() - 2; ++d) {
            all_.push_back(all[d]);
            is_shared_.push_back(mask[d] != all[d] ? 1 : 0);
            n_ *= mask[d] != all[d] ? all[d] : 1;
        }
    }
    int64_t count() const { return n_; }
    // The i-th matrix that shares matrix `of_mask`.
    int64_t matrix(int64_t of_mask, int64_t i) const {
        int64_t result = 0;
        int64_t step = 1;
        for (int8_t d = all_.ndim() - 1; d >= 0; --d) {
            int64_t& from = is_shared_[d] != 0 ? i : of_mask;
            result += from % all_[d] * step;
            from /= all_[d];
            step *= all_[d];
        }
        return result;
    }

 private:
    Shape all_;
    Shape mask_;
    Axes is_shared_;
    int64_t n_{1};
};

template <typename T>
class MaskGrad {
    using C = ComputeType<T>;
    using Weights = AttentionWeights<T>;

 public:
    MaskGrad(const Weights& weights, const Shape& all, const Array& gmask)
        : weights_{weights},
          sizes_{weights.sizes()},
          gmask_{gmask},
          sharers_{all, gmask.shape()},
          has_queries_{gmask.shape()[gmask.ndim() - 2] == sizes_.queries},
          has_keys_{gmask.shape()[gmask.ndim() - 1] == sizes_.keys},
          n_ranges_{CeilDiv(sizes_.queries, Weights::kMaxQueries)},
          n_blocks_{CeilDiv(sizes_.keys, Weights::kMaxKeys)} {}

    void Run() const {
        const int64_t n_matrices = gmask_.ndim() == 2 ? 1 : [&] {
            int64_t n = 1;
            for (int8_t d = 0; d < gmask_.ndim() - 2; ++d) n *= gmask_.shape()[d];
            return n;
        }();
        const int64_t n_rows = has_queries_ ? n_ranges_ : 1;
        const int64_t n_columns = has_keys_ ? n_blocks_ : 1;
        ParallelFor(n_matrices * n_rows * n_columns, [&](int64_t task) {
            const int64_t columns = GemmLoopsOf<C>().columns;
            const int64_t lanes =
                CeilDiv(std::min(sizes_.queries, Weights::kMaxQueries), columns) * columns;
            const int64_t n_sums = lanes * std::min(sizes_.keys, Weights::kMaxKeys);
            Carver<C> plan{nullptr};
            typename Weights::Memory{plan, sizes_};
            const Scratch<C> memory{plan.size() + n_sums};
            Carver<C> carver{memory.data()};
            const typename Weights::Memory m{carver, sizes_};
            RunBlock(task / (n_rows * n_columns), task / n_columns % n_rows, task % n_columns,
                     n_sums, memory.data() + plan.size(), m);
        });
    }

 private:
    // Computes one block of the result from the blocks of scores that it sums.
    void RunBlock(int64_t of_mask, int64_t range, int64_t block, int64_t n_sums, C* sums,
                  const typename Weights::Memory& m) const {
        std::fill_n(sums, n_sums, C{0});
        const Range ranges = has_queries_ ? Range{range, range + 1} : Range{0, n_ranges_};
        const Range blocks = has_keys_ ? Range{block, block + 1} : Range{0, n_blocks_};
        for (int64_t i = 0; i < sharers_.count(); ++i) {
            const int64_t matrix = sharers_.matrix(of_mask, i);
            for (int64_t r = ranges.begin; r < ranges.end; ++r) {
                const Lanes lanes = LanesOf(r);
                weights_.PackQueries(matrix, lanes, m);
                for (int64_t b = blocks.begin; b < blocks.end; ++b) {
                    internal::CheckInterrupt();
                    AddUp(matrix, lanes, KeysOf(b), sums, m);
                }
            }
        }
        Write(of_mask, LanesOf(range), KeysOf(block), sums);
    }
    Lanes LanesOf(int64_t range) const {
        return {Range{sizes_.queries, n_ranges_, range}, GemmLoopsOf<C>().columns};
    }
    Range KeysOf(int64_t block) const { return {sizes_.keys, n_blocks_, block}; }

    // One panel per panel of queries, as wide as the widest block of keys.
    C* PanelOf(C* sums, int64_t p) const {
        return sums + p * GemmLoopsOf<C>().columns * std::min(sizes_.keys, Weights::kMaxKeys);
    }

    void AddUp(int64_t matrix, const Lanes& lanes, const Range& keys, C* sums,
               const typename Weights::Memory& m) const {
        weights_.PackKeys(matrix, lanes, keys, m);
        for (int64_t p = 0; p < lanes.count(); ++p) {
            const Range seen = weights_.Seen(keys, lanes.panel(p));
            if (seen.size() <= 0) continue;
            weights_.Run(matrix, lanes, p, keys, seen, 1, m);
            C* to = PanelOf(sums, p);
            for (int64_t i = 0; i < seen.size() * lanes.width; ++i) to[i] += m.slopes[i];
        }
    }

    void Write(int64_t of_mask, const Lanes& lanes, const Range& keys, C* sums) const {
        const int64_t n_queries = std::min(sizes_.queries, Weights::kMaxQueries);
        const int64_t n_keys = std::min(sizes_.keys, Weights::kMaxKeys);
        const auto sum_at = [&](int64_t i, int64_t j) {
            return PanelOf(sums, i / lanes.width)[j * lanes.width + i % lanes.width];
        };
        const Range rows = has_queries_ ? lanes.all : Range{0, 1};
        const Range columns = has_keys_ ? keys : Range{0, 1};
        VisitFloat(gmask_.dtype(), [&]<typename M>() {
            const auto to = MatrixAt<M>(gmask_, of_mask);
            for (int64_t i = 0; i < rows.size(); ++i) {
                for (int64_t j = 0; j < columns.size(); ++j) {
                    C sum{0};
                    for (int64_t k = i; k < (has_queries_ ? i + 1 : n_queries); ++k) {
                        for (int64_t l = j; l < (has_keys_ ? j + 1 : n_keys); ++l) {
                            sum += sum_at(k, l);
                        }
                    }
                    *to.at(rows.begin + i, columns.begin + j) = Cast<M>(sum);
                }
            }
        });
    }

    const Weights& weights_;
    const AttentionSizes sizes_;
    const Array gmask_;
    const Sharers sharers_;
    const bool has_queries_;
    const bool has_keys_;
    const int64_t n_ranges_;
    const int64_t n_blocks_;
};

void AttentionMaskGrad(const Array& q, const Array& k, const Array& v, const Array& mask,
                       const Array& key, const AttentionOptions& options, const Array& y,
                       const Array& stats, const Array& gy, const Array& gmask) {
    VisitFloat(y.dtype(), [&]<typename T>() {
        const AttentionWeights<T> weights{q, k, v, mask, key, options, y, stats, gy};
        MaskGrad<T>{weights, q.shape(), gmask}.Run();
    });
}
CX_NATIVE_KERNEL(AttentionMaskGrad)

}  // namespace
}  // namespace chainerx::native
