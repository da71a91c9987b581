// argmin and argmax: the comparison, and its loops over a block of elements or a row, which the
// compiler vectorizes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/reduce/reduce_policies.h"

namespace chainerx::native {
namespace {

// The comparison: largest or smallest, with NaN either above all or ignored.
template <typename T, bool kLargest, bool kIgnoresNan>
struct Extreme {
    static constexpr bool kFindsLargest = kLargest;
    static constexpr bool kSkipsNan = kIgnoresNan;
    using Item = T;
    using Acc = std::conditional_t<std::is_integral_v<T>, T, ComputeType<T>>;
    using Center = NoCenter;
    using Index = ArgIndex<Acc>;
    // any element may be the extreme of all: take the first
    static constexpr bool kIsTruth = false;
    // Types with SIMD loops.
    static constexpr bool kIsIsa = kHasBatches<T>;

    static const auto& isa_loops() {
        if constexpr (std::is_same_v<T, float>) {
            return reduce_loops().arg_float32;
        } else {
            return reduce_loops().arg_float64;
        }
    }
    // Finds extreme and position in one pass over a few thousand elements; null if there is no such
    // loop.
    static ExtremeLoop<T> extreme_loop() {
        if constexpr (kIsIsa) {
            return kIgnoresNan ? nullptr : isa_loops().extreme[kLargest];
        } else if constexpr (std::is_same_v<T, int32_t>) {
            return reduce_loops().extreme_int32[kLargest];
        } else if constexpr (std::is_same_v<T, uint32_t>) {
            return reduce_loops().extreme_uint32[kLargest];
        } else if constexpr (std::is_same_v<T, int64_t>) {
            return reduce_loops().extreme_int64[kLargest];
        } else if constexpr (std::is_same_v<T, uint64_t>) {
            return reduce_loops().extreme_uint64[kLargest];
        } else {
            return nullptr;
        }
    }
    static Acc Identity() { return kLargest ? LowestOf<Acc>() : HighestOf<Acc>(); }
    static Acc Load(T x, NoCenter) {
        const Acc v = Cast<Acc>(x);
        return kIgnoresNan && IsNan(v) ? Identity() : v;
    }
    static bool Beats(Acc a, Acc b) { return kLargest ? a > b : a < b; }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (std::is_integral_v<Acc>) return Beats(b, a) ? b : a;  // auto-vectorized
        return Beats(b, a) | IsNan(b) ? b : a;
    }
    // Returns whether `v` replaces `best`, which came first; `found` is whether there is a `best`.
    static bool Replaces(Acc v, Acc best, bool found) {
        if constexpr (kIgnoresNan) {
            return Beats(v, best) | (!found & !IsNan(v));
        } else {
            return Beats(v, best) | (IsNan(v) & !IsNan(best)) | !found;
        }
    }
};

// bools, as bytes that are 0 or 1.
template <bool kLargest>
struct ExtremeTruth : Extreme<uint8_t, kLargest, false> {
    static constexpr bool kIsTruth = true;
};

// Returns the position of the first of n elements that `matches`, n if there is none.
template <typename Item, typename F>
int64_t FindFirst(const Item* x, int64_t n, const F& matches) {
    constexpr int64_t kStep = 64;  // a loop without exits, which the compiler vectorizes
    // As wide as an element: with AVX2, narrowing takes four times as long.
    using Word = std::conditional_t<
        sizeof(Item) == 8, uint64_t,
        std::conditional_t<sizeof(Item) == 4, uint32_t,
                           std::conditional_t<sizeof(Item) == 2, uint16_t, uint8_t>>>;
    int64_t i = 0;
    for (; i + kStep <= n; i += kStep) {
        Word found = 0;
        for (int64_t j = 0; j < kStep; ++j) found |= Word{matches(x[i + j])};
        if (found != 0) break;
    }
    while (i < n && !matches(x[i])) ++i;
    return i;
}

template <typename E>
void FoldBlock(const void* x, int64_t n, void* acc) {
    *static_cast<typename E::Acc*>(acc) =
        Loops<E>::FoldedBlock(static_cast<const typename E::Item*>(x), n, NoCenter{});
}

template <typename Item, typename Acc>
int64_t FindInBlock(const void* x_data, int64_t n, const void* acc) {
    const auto* x = static_cast<const Item*>(x_data);
    const Acc value = *static_cast<const Acc*>(acc);
    if (IsNan(value)) return FindFirst(x, n, [](const Item& v) { return IsNan(Cast<Acc>(v)); });
    return FindFirst(x, n, [value](const Item& v) { return Cast<Acc>(v) == value; });
}

template <typename E>
void TakeRowOfBlock(const void* row_data, int64_t n, int64_t at_row, void* best_data,
                    void* index_data) {
    using Acc = typename E::Acc;
    using Index = typename E::Index;
    const auto* row = static_cast<const typename E::Item*>(row_data);
    auto* __restrict best = static_cast<Acc*>(best_data);
    auto* __restrict index = static_cast<Index*>(index_data);
    const auto at = static_cast<Index>(at_row);
    for (int64_t j = 0; j < n; ++j) {
        const auto v = Cast<Acc>(row[j]);
        const Acc b = best[j];
        const Index i = index[j];
        const bool surpasses = Surpasses<E::kFindsLargest, E::kSkipsNan>(v, b);
        best[j] = surpasses ? v : b;
        index[j] = surpasses ? at : i;
    }
}

}  // namespace
}  // namespace chainerx::native
