// Policies (reduce_policies.h) of any and all.
#pragma once

#include <limits>
#include <type_traits>

#include "chainerx/native/reduce/reduce_types.h"

namespace chainerx::native {
namespace {

// all() of integers: the smallest one decides, if there is a vector minimum.
template <typename T>
struct AllOf {
    static constexpr bool kSmallest = std::is_integral_v<T> && sizeof(T) <= 4;
    using Item = T;
    using Acc = std::conditional_t<kSmallest, T, uint8_t>;
    using Center = NoCenter;
    static constexpr Built kBuilt = Built::kPerSet;
    static Acc Identity() { return std::numeric_limits<Acc>::max(); }
    static Acc Load(T x, NoCenter) {
        if constexpr (kSmallest) return x;
        return IsNonzero(x);
    }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (kSmallest) return b < a ? b : a;
        return a & b;
    }
    static constexpr int64_t kMaxRun = 8 * kReduceBlock;
    static bool IsFinal(Acc acc) { return acc == 0; }
};
template <typename T>
using AllPolicy = AllOf<TruthItem<T>>;

// any() of integers: OR of their bits.
template <typename T>
struct AnyOf {
    using Item = T;
    using Acc = std::conditional_t<std::is_integral_v<T>, T, uint8_t>;
    using Center = NoCenter;
    static constexpr Built kBuilt = Built::kPerSet;
    static Acc Identity() { return 0; }
    static Acc Load(T x, NoCenter) {
        if constexpr (std::is_integral_v<T>) return x;
        return IsNonzero(x);
    }
    static Acc Combine(Acc a, Acc b) { return a | b; }
    static constexpr int64_t kMaxRun = 8 * kReduceBlock;
    static bool IsFinal(Acc acc) { return acc != 0; }
};
template <typename T>
using AnyPolicy = AnyOf<TruthItem<T>>;

// Counters of a block are as wide as its elements, so that whole vectors are added.
template <typename T>
struct CountOf {
    using Item = T;
    using Acc = int64_t;
    using Center = NoCenter;
    static constexpr Built kBuilt = Built::kPerSet;
    static Acc Identity() { return 0; }
    static Acc Load(T x, NoCenter) { return IsNonzero(x); }
    static Acc Combine(Acc a, Acc b) { return a + b; }

    template <int64_t kLanes>
    static void Block(const T* x, int64_t n, NoCenter, Acc* lanes) {
        using Counter = UnsignedOf<sizeof(T)>;
        constexpr int64_t kCounters = 256 / sizeof(Counter);
        static_assert(kReduceBlock / kCounters < 256 && kCounters % kLanes == 0);
        if (n <= kLanes) {  // fewer than a loop takes to start
            for (int64_t j = 0; j < kLanes; ++j) lanes[j] = 0;
            for (int64_t j = 0; j < n; ++j) lanes[j] = IsNonzero(x[j]);
            return;
        }
        Counter counts[kCounters] = {};
        int64_t i = 0;
        for (; i + kCounters <= n; i += kCounters) {
            for (int64_t j = 0; j < kCounters; ++j) {
                counts[j] = static_cast<Counter>(counts[j] + IsNonzero(x[i + j]));
            }
        }
        for (int64_t j = 0; i < n; ++i, ++j) {
            counts[j] = static_cast<Counter>(counts[j] + IsNonzero(x[i]));
        }
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = static_cast<Acc>(counts[j]);
        for (int64_t i0 = kLanes; i0 < kCounters; i0 += kLanes) {
            for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<Acc>(counts[i0 + j]);
        }
    }
};
template <typename T>
using CountPolicy = CountOf<TruthItem<T>>;

}  // namespace
}  // namespace chainerx::native
