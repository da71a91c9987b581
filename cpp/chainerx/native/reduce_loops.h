// The loops of the reductions, written once for all types. A policy P says what is reduced:
//
//     using Item, Acc, Center;         types of an element, an accumulator, and what Load subtracts
//     static Acc Identity();
//     static Acc Load(Item x, Center c);
//     static Acc Combine(Acc a, Acc b);
//
// and may bring its own Block(), FoldedBlock() and AddRows(), in batches of an instruction set.
//
// Elements are dealt to lanes, which the compiler keeps in vectors. Lanes are combined in halves;
// blocks of 16 rows of lanes in a cascade of radix 16, whose error grows with the logarithm of the
// number of elements, as pairwise summation.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/native/copy_block.h"
#include "chainerx/native/reduce.h"

namespace chainerx::native {
namespace {

// Adds up rows of `width` accumulators in levels. Level 0 is filled by the caller. `kFixed`: the
// width is kWidth always.
template <typename P, int64_t kWidth, bool kFixed>
class Cascade {
 public:
    using Acc = typename P::Acc;
    static constexpr int kRadix = 16;
    static constexpr int kLevels = 8;  // 16^7 groups; those beyond are added to the last

    explicit Cascade(int64_t width) : width_{width} {
        for (int l = 0; l < kLevels; ++l) counts_[l] = 0;
    }

    // Where the next group of rows goes.
    Acc* bottom() { return rows_[0]; }

    // The bottom is full.
    void Push() {
        int l = 0;
        do {
            Merge(l);
            ++l;
        } while (counts_[l] == kRadix && l + 1 < kLevels);
        if (l > 2) internal::CheckInterrupt();  // after each 256 groups
    }

    // Combines all levels, the lowest first, into `out`.
    void Finish(Acc* out) {
        int l = 1;
        while (counts_[l] == 0) ++l;
        const Acc* low = rows_[l];
        for (int64_t j = 0; j < width(); ++j) out[j] = low[j];
        for (++l; l < kLevels; ++l) {
            if (counts_[l] == 0) continue;
            const Acc* row = rows_[l];
            for (int64_t j = 0; j < width(); ++j) out[j] = P::Combine(row[j], out[j]);
        }
    }

 private:
    int64_t width() const { return kFixed ? kWidth : width_; }

    // Level l into level l + 1.
    void Merge(int l) {
        Acc* from = rows_[l];
        Acc* to = rows_[l + 1];
        if (counts_[l + 1] == 0) {
            for (int64_t j = 0; j < width(); ++j) to[j] = from[j];
        } else {
            for (int64_t j = 0; j < width(); ++j) to[j] = P::Combine(to[j], from[j]);
        }
        counts_[l] = 0;
        ++counts_[l + 1];
    }

    int64_t width_;
    int counts_[kLevels];
    alignas(64) Acc rows_[kLevels][kWidth];
};

template <typename P>
struct Loops {
    using Item = typename P::Item;
    using Acc = typename P::Acc;
    using Center = typename P::Center;
    static constexpr int64_t kItem = sizeof(Item);
    // 256 bytes of elements: eight vectors of AVX2, enough to hide the latency of an addition.
    static constexpr int64_t kLanes = 256 / (sizeof(Acc) < 4 ? 4 : sizeof(Acc));
    static constexpr int64_t kColumns = ReduceColumns(kItem, sizeof(Acc), false);
    static constexpr int64_t kGatheredColumns = ReduceColumns(kItem, sizeof(Acc), true);
    static constexpr int64_t kGroup = 16;  // rows to a group of Rows()
    static_assert(kReduceBlock % kLanes == 0);

    static bool IsAdjacent(const Nest& nest) {
        return nest.ndim == 1 && nest.strides[0][0] == kItem;
    }

    static Center CenterOf(const void* center) {
        if (center == nullptr) return Center{};
        return *static_cast<const Center*>(center);
    }

    // lanes = the reduction of n <= kReduceBlock adjacent elements.
    static void Block(const Item* x, int64_t n, Center c, Acc* lanes) {
        if constexpr (requires { P::template Block<kLanes>(x, n, c, lanes); }) {
            P::template Block<kLanes>(x, n, c, lanes);
            return;
        }
        Acc acc[kLanes];
        for (int64_t j = 0; j < kLanes; ++j) acc[j] = P::Identity();
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            for (int64_t j = 0; j < kLanes; ++j) acc[j] = P::Combine(acc[j], P::Load(x[i + j], c));
        }
        for (int64_t j = 0; i < n; ++i, ++j) acc[j] = P::Combine(acc[j], P::Load(x[i], c));
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = acc[j];
    }

    static Acc Fold(Acc* lanes) {
        for (int64_t w = kLanes / 2; w > 0; w /= 2) {
            for (int64_t j = 0; j < w; ++j) lanes[j] = P::Combine(lanes[j], lanes[j + w]);
        }
        return lanes[0];
    }

    static Acc FoldedBlock(const Item* x, int64_t n, const Center& c) {
        if constexpr (requires { P::template FoldedBlock<kLanes>(x, n, c); }) {
            return P::template FoldedBlock<kLanes>(x, n, c);
        } else {
            alignas(64) Acc lanes[kLanes];
            Block(x, n, c, lanes);
            return Fold(lanes);
        }
    }

    static void Run(const char* data, const Nest& nest, int64_t begin, int64_t n,
                    const void* center, void* out) {
        alignas(64) char buffer[kReduceBlock * kItem];
        const bool adjacent = IsAdjacent(nest);
        const auto fetch = [&](int64_t k) {
            return reinterpret_cast<const Item*>(
                adjacent ? data + begin * kItem
                         : FetchBlock(data, nest, kItem, begin, k < kReduceBlock ? k : kReduceBlock,
                                      buffer));
        };
        const Center c = CenterOf(center);
        if (n <= kReduceBlock) {
            *static_cast<Acc*>(out) = FoldedBlock(fetch(n), n, c);
            return;
        }
        Cascade<P, kLanes, true> cascade{kLanes};
        while (n > 0) {
            const int64_t k = n < kReduceBlock ? n : kReduceBlock;
            Block(fetch(k), k, c, cascade.bottom());
            cascade.Push();
            begin += k;
            n -= k;
        }
        alignas(64) Acc lanes[kLanes];
        cascade.Finish(lanes);
        *static_cast<Acc*>(out) = Fold(lanes);
    }

    static void Runs(const char* data, int64_t step, int64_t n_runs, const Nest& nest, int64_t n,
                     const void* centers, void* out) {
        const auto* center = static_cast<const Center*>(centers);
        auto* acc = static_cast<Acc*>(out);
        const bool adjacent = IsAdjacent(nest);
        for (int64_t j = 0; j < n_runs; ++j, data += step) {
            const Center* c = center == nullptr ? nullptr : center + j;
            if (adjacent && n <= kReduceBlock) {
                acc[j] = FoldedBlock(reinterpret_cast<const Item*>(data), n, CenterOf(c));
            } else {
                Run(data, nest, 0, n, c, acc + j);
            }
        }
    }

    // acc[j] = the reduction of 0 < n <= kGroup rows of adjacent items.
    static void Group(const char* const* rows, int64_t n, int64_t width, const Center* center,
                      Acc* acc) {
        const auto load = [&](int64_t r, int64_t j) {
            const Item x = reinterpret_cast<const Item*>(rows[r])[j];
            if constexpr (std::is_empty_v<Center>) {
                return P::Load(x, Center{});
            } else {
                return P::Load(x, center[j]);
            }
        };
        for (int64_t j = 0; j < width; ++j) acc[j] = load(0, j);
        int64_t r = 1;
        if constexpr (requires { P::template AddRows<1>(rows, width, center, acc); }) {
            for (; r + 4 <= n; r += 4) P::template AddRows<4>(rows + r, width, center, acc);
            for (; r < n; ++r) P::template AddRows<1>(rows + r, width, center, acc);
            return;
        }
        for (; r + 4 <= n; r += 4) {
            for (int64_t j = 0; j < width; ++j) {
                Acc a = P::Combine(acc[j], load(r, j));
                a = P::Combine(a, load(r + 1, j));
                a = P::Combine(a, load(r + 2, j));
                acc[j] = P::Combine(a, load(r + 3, j));
            }
        }
        for (; r < n; ++r) {
            for (int64_t j = 0; j < width; ++j) acc[j] = P::Combine(acc[j], load(r, j));
        }
    }

    static void Rows(const char* data, const Nest& nest, int64_t begin, int64_t n, int64_t stride,
                     int64_t width, const void* centers, void* out) {
        const auto* center = static_cast<const Center*>(centers);
        auto* acc = static_cast<Acc*>(out);
        const char* rows[kGroup];
        alignas(64) char buffer[kGroup * kGatheredColumns * kItem];
        const auto fetch = [&](int64_t k) {
            FetchRows(data, nest, begin, k, rows);
            if (stride == kItem) return;
            for (int64_t r = 0; r < k; ++r) {
                char* to = buffer + r * kGatheredColumns * kItem;
                CopyStrided(to, kItem, rows[r], stride, width, kItem);
                rows[r] = to;
            }
        };
        if (n <= kGroup) {
            fetch(n);
            Group(rows, n, width, center, acc);
            return;
        }
        Cascade<P, kColumns, false> cascade{width};
        while (n > 0) {
            const int64_t k = n < kGroup ? n : kGroup;
            fetch(k);
            Group(rows, k, width, center, cascade.bottom());
            cascade.Push();
            begin += k;
            n -= k;
        }
        cascade.Finish(acc);
    }

    static void CombineAll(void* acc, const void* x, int64_t n) {
        auto* a = static_cast<Acc*>(acc);
        const auto* b = static_cast<const Acc*>(x);
        for (int64_t j = 0; j < n; ++j) a[j] = P::Combine(a[j], b[j]);
    }

    static constexpr ReduceLoops Table(decltype(ReduceLoops::store) store) {
        return {kItem, sizeof(Acc), &Run, &Runs, &Rows, &CombineAll, store};
    }
};

}  // namespace
}  // namespace chainerx::native
