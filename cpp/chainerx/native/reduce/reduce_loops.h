// The innermost loops of the reductions, written once for all types. A policy P says what is
// reduced:
//
//     using Item, Acc, Center;         types of an element, an accumulator, and what Load subtracts
//     static Acc Identity();
//     static Acc Load(Item x, Center c);
//     static Acc Combine(Acc a, Acc b);
//     static constexpr Built kBuilt;   // see below
//
// and may bring its own Block(), FoldedBlock() and AddRows(), in batches of an instruction set;
// kMaxRun, if it takes more elements than kReduceBlock in one go; and IsFinal(Acc), whether no
// more elements can change an accumulator.
//
// Elements are dealt to lanes, which the compiler keeps in vectors. Lanes are combined in halves,
// blocks and groups of rows in a cascade (reduce_cascade.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/native/reduce/reduce.h"
#include "chainerx/native/strided/prefetch.h"

namespace chainerx::native {
namespace {

// How the loops of a policy are built: once; for each instruction set by auto-vectorization
// (reduce/simd/reduce_auto.cc); or in batches (reduce/simd/reduce.cc).
enum class Built { kOnce, kPerSet, kInBatches };

// Marks dtypes that a routine rejects, or that another kernel handles.
struct NoPolicy {};

template <typename P>
struct Loops {
    using Item = typename P::Item;
    using Acc = typename P::Acc;
    using Center = typename P::Center;
    static constexpr int64_t kItem = sizeof(Item);
    static constexpr int64_t kLanes = ReduceLanes(sizeof(Acc));
    static_assert(kReduceBlock % kLanes == 0);
    static constexpr int64_t kMaxRun = [] {
        if constexpr (requires { P::kMaxRun; }) return P::kMaxRun;
        return kReduceBlock;
    }();

    static Center CenterOf(const void* center) {
        if (center == nullptr) return Center{};
        return *static_cast<const Center*>(center);
    }

    // Reduces n <= kMaxRun adjacent elements to lanes. Not inlined, since its code is the largest
    // of all.
    [[gnu::noinline]] static void Block(const Item* x, int64_t n, Center c, Acc* lanes) {
        if constexpr (requires { P::template Block<kLanes>(x, n, c, lanes); }) {
            P::template Block<kLanes>(x, n, c, lanes);
            return;
        }
        Acc acc[kLanes];
        for (int64_t j = 0; j < kLanes; ++j) acc[j] = P::Identity();
        int64_t i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            constexpr int64_t kLine = 64 / sizeof(Item);
            for (int64_t j = 0; j < kLanes; j += kLine) {
                PrefetchAhead<(kMaxRun > kReduceBlock)>(x + i, j);
            }
            for (int64_t j = 0; j < kLanes; ++j) acc[j] = P::Combine(acc[j], P::Load(x[i + j], c));
        }
        for (int64_t j = 0; i < n; ++i, ++j) acc[j] = P::Combine(acc[j], P::Load(x[i], c));
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = acc[j];
    }

    static Acc FoldedBlock(const Item* x, int64_t n, const Center& c) {
        if constexpr (requires { P::template FoldedBlock<kLanes>(x, n, c); }) {
            return P::template FoldedBlock<kLanes>(x, n, c);
        } else {
            alignas(64) Acc lanes[kLanes];
            Block(x, n, c, lanes);
            for (int64_t w = kLanes / 2; w > 0; w /= 2) {
                for (int64_t j = 0; j < w; ++j) lanes[j] = P::Combine(lanes[j], lanes[j + w]);
            }
            return lanes[0];
        }
    }

    static void FoldBlock(const char* data, int64_t n, const void* center, void* lanes) {
        Block(reinterpret_cast<const Item*>(data), n, CenterOf(center), static_cast<Acc*>(lanes));
    }

    static void Runs(const char* data, int64_t step, int64_t n_runs, int64_t n, const void* centers,
                     void* out) {
        const auto* center = static_cast<const Center*>(centers);
        auto* acc = static_cast<Acc*>(out);
        for (int64_t j = 0; j < n_runs; ++j, data += step) {
            const Center c = CenterOf(center == nullptr ? nullptr : center + j);
            acc[j] = FoldedBlock(reinterpret_cast<const Item*>(data), n, c);
        }
    }

    static void Rows(const char* const* rows, int64_t n, int64_t width, const void* centers,
                     void* out) {
        const auto* center = static_cast<const Center*>(centers);
        auto* acc = static_cast<Acc*>(out);
        // Takes as many rows first that a multiple of four is left: each group of four writes acc
        // once.
        const int64_t first = (n - 1) % 4 + 1;
        switch (first) {
            case 1:
                AddRows<1, true>(rows, width, center, acc);
                break;
            case 2:
                AddRows<2, true>(rows, width, center, acc);
                break;
            case 3:
                AddRows<3, true>(rows, width, center, acc);
                break;
            default:
                AddRows<4, true>(rows, width, center, acc);
        }
        for (int64_t r = first; r < n; r += 4) AddRows<4, false>(rows + r, width, center, acc);
    }

    // Adds kRows rows to acc, or initializes acc with them.
    template <int kRows, bool kBegins>
    static void AddRows(const char* const* rows, int64_t width, const Center* __restrict center,
                        Acc* __restrict acc) {
        if constexpr (requires { P::template AddRows<kRows, kBegins>(rows, width, center, acc); }) {
            P::template AddRows<kRows, kBegins>(rows, width, center, acc);
            return;
        }
        const Item* x[kRows];
        for (int r = 0; r < kRows; ++r) x[r] = reinterpret_cast<const Item*>(rows[r]);
        for (int64_t j = 0; j < width; ++j) {
            Center c{};
            if constexpr (!std::is_empty_v<Center>) c = center[j];
            Acc a = P::Load(x[0][j], c);
            if constexpr (!kBegins) a = P::Combine(acc[j], a);
            for (int r = 1; r < kRows; ++r) a = P::Combine(a, P::Load(x[r][j], c));
            acc[j] = a;
        }
    }

    static void CombineAll(void* acc, const void* x, int64_t n) {
        auto* __restrict a = static_cast<Acc*>(acc);
        const auto* __restrict b = static_cast<const Acc*>(x);
        for (int64_t j = 0; j < n; ++j) a[j] = P::Combine(a[j], b[j]);
    }

    static constexpr FoldLoops Table() {
        constexpr int64_t kCenter = std::is_empty_v<Center> ? 0 : sizeof(Center);
        FoldLoops loops{kItem, sizeof(Acc), kCenter, kMaxRun,
                        &Runs, &FoldBlock,  &Rows,   &CombineAll};
        if constexpr (requires(Acc acc) { P::IsFinal(acc); }) {
            loops.is_final = [](const void* acc) {
                return P::IsFinal(*static_cast<const Acc*>(acc));
            };
        }
        return loops;
    }
};

}  // namespace
}  // namespace chainerx::native
