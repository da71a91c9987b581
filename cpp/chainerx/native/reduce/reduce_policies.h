// The reductions, as policies of reduce_loops.h. `SumOf<T>` adds items of type T. `SumPolicy<T>` is
// the policy that sums arrays of dtype T: it may be that of another type with the same bit
// operations, to save code.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "chainerx/native/reduce/reduce_truth.h"
#include "chainerx/native/reduce/reduce_types.h"

namespace chainerx::native {
namespace {

// ---- sums and products --------------------------------------------------------------------------

template <typename T, typename AccType>
struct SumInto {
    using Item = T;
    using Acc = AccType;
    using Center = NoCenter;
    static Acc Identity() { return AddIdentity<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename T>
struct SumOf : SumInto<T, TotalAcc<T>> {
    static constexpr Built kBuilt = kBuiltForMost<T>;
    // Integer sums don't round, so their order is free.
    static constexpr int64_t kMaxRun =
        std::is_integral_v<TotalAcc<T>> ? 64 * kReduceBlock : kReduceBlock;
};

// Complex numbers by their parts, which the compiler keeps in vectors.
template <typename R>
struct SumOf<std::complex<R>> : SumInto<std::complex<R>, std::complex<R>> {
    static constexpr Built kBuilt = Built::kPerSet;

    template <int64_t kLanes>
    static void Block(const std::complex<R>* x, int64_t n, NoCenter, std::complex<R>* lanes) {
        constexpr int64_t kParts = 2 * kLanes;
        const R* p = reinterpret_cast<const R*>(x);
        R sums[kParts];
        for (int64_t j = 0; j < kParts; ++j) sums[j] = R(-0.0);
        int64_t i = 0;
        for (; i + kParts <= 2 * n; i += kParts) {
            for (int64_t j = 0; j < kParts; ++j) sums[j] += p[i + j];
        }
        for (int64_t j = 0; i < 2 * n; ++i, ++j) sums[j] += p[i];
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = {sums[2 * j], sums[2 * j + 1]};
    }
};

// Counts true elements.
template <typename T>
using SumPolicy = std::conditional_t<std::is_same_v<T, bool>, CountPolicy<T>, SumOf<TotalItem<T>>>;

template <typename T>
struct NanSumOf : SumInto<T, TotalAcc<T>> {
    static constexpr Built kBuilt = Built::kOnce;
    static TotalAcc<T> Load(T x, NoCenter) {
        const auto v = Cast<TotalAcc<T>>(x);
        return IsNan(v) ? TotalAcc<T>{} : v;
    }
};
template <typename T>
using NanSumPolicy = std::conditional_t<kIsInexactType<T>, NanSumOf<T>, SumPolicy<T>>;

// Sums floats in float64.
template <typename T>
struct WideSumOf : SumInto<T, double> {
    static constexpr Built kBuilt = kIsHalf<T> ? Built::kOnce : Built::kPerSet;
    static double Load(T x, NoCenter) { return Cast<ComputeType<T>>(x); }
};
template <typename T>
using WideSumPolicy =
    std::conditional_t<kIsFloatingType<T> && (sizeof(T) <= 4), WideSumOf<T>, NoPolicy>;

// Sums 64-bit integers in float64, since their sums may overflow.
template <typename T>
struct MeanOf : SumInto<T, double> {
    static constexpr Built kBuilt = Built::kPerSet;
};
template <typename T>
using MeanPolicy =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, MeanOf<T>, SumPolicy<T>>;

template <typename T>
struct ProdOf {
    using Item = T;
    using Acc = TotalAcc<T>;
    using Center = NoCenter;
    static constexpr Built kBuilt = Built::kOnce;
    static Acc Identity() { return Acc(1); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return Times(a, b); }

    // Four at a time: few processors have vector products of 64-bit integers.
    template <int64_t kLanes>
        requires std::is_same_v<T, uint64_t>
    static void Block(const T* x, int64_t n, NoCenter, Acc* lanes) {
        Acc p[4] = {1, 1, 1, 1};
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            p[0] *= x[i];
            p[1] *= x[i + 1];
            p[2] *= x[i + 2];
            p[3] *= x[i + 3];
        }
        for (; i < n; ++i) p[0] *= x[i];
        for (int64_t j = 0; j < kLanes; ++j) lanes[j] = j < 4 ? p[j] : 1;
    }
};
template <typename T>
using ProdPolicy = ProdOf<TotalItem<T>>;

// Squared distance from the mean.
template <typename T>
struct SquareOf {
    using Item = T;
    using Center = MeanAcc<T>;
    using Acc = typename RealOf<Center>::type;
    static constexpr Built kBuilt = kBuiltForFloats<T>;
    static Acc Identity() { return Acc(0); }
    static Acc Load(T x, Center c) {
        const Center d = Cast<Center>(x) - c;
        if constexpr (kIsComplexType<T>) {
            return d.real() * d.real() + d.imag() * d.imag();
        } else {
            return d * d;
        }
    }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};
template <typename T>
using SquarePolicy = SquareOf<T>;

// Squared distance from 0, for floats.
template <typename T>
struct SquareSumOf {
    using Item = T;
    using Center = NoCenter;
    using Acc = ComputeType<T>;
    static constexpr Built kBuilt = kBuiltForFloats<T>;
    static Acc Identity() { return Acc(0); }
    static Acc Load(T x, NoCenter) { return SquareOf<T>::Load(x, {}); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};
template <typename T>
using SquareSumPolicy = std::conditional_t<kIsFloatingType<T>, SquareSumOf<T>, NoPolicy>;

// ---- extremes -----------------------------------------------------------------------------------

// bool as a byte: there are no vectors of bool.
template <typename T>
using ExtremeItem = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
// Integers in their own width: vectors hold more of the narrow ones.
template <typename T>
using ExtremeAcc = std::conditional_t<std::is_integral_v<T>, T, ComputeType<T>>;
// Complex numbers have no order; the routines refuse them.
template <typename T>
using OrderedItem = std::conditional_t<kIsComplexType<T>, float, T>;

template <typename C>
C LowestOf() {
    if constexpr (std::is_floating_point_v<C>) {
        return -std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::lowest();
    }
}
template <typename C>
C HighestOf() {
    if constexpr (std::is_floating_point_v<C>) {
        return std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::max();
    }
}

// NaN wins over all, and stays. For truth values one element may decide.
template <typename T>
struct MaxOf {
    using Item = T;
    using Acc = ExtremeAcc<T>;
    using Center = NoCenter;
    static constexpr int64_t kMaxRun = 64 * kReduceBlock;
    static constexpr Built kBuilt = kBuiltForMost<T>;
    static Acc Identity() { return LowestOf<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (std::is_integral_v<Acc>) return b > a ? b : a;  // auto-vectorized
        return ((b > a) | (b != b)) ? b : a;
    }
};
template <typename T>
using MaxPolicy = std::conditional_t<
    kIsComplexType<T>, NoPolicy,
    std::conditional_t<std::is_same_v<T, bool>, AnyPolicy<T>, MaxOf<ExtremeItem<T>>>>;

template <typename T>
struct MinOf {
    using Item = T;
    using Acc = ExtremeAcc<T>;
    using Center = NoCenter;
    static constexpr int64_t kMaxRun = 64 * kReduceBlock;
    static constexpr Built kBuilt = kBuiltForMost<T>;
    static Acc Identity() { return HighestOf<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (std::is_integral_v<Acc>) return b < a ? b : a;  // auto-vectorized
        return ((b < a) | (b != b)) ? b : a;
    }
};
template <typename T>
using MinPolicy = std::conditional_t<
    kIsComplexType<T>, NoPolicy,
    std::conditional_t<std::is_same_v<T, bool>, AllPolicy<T>, MinOf<ExtremeItem<T>>>>;

// nanmax, nanmin: NaN gives way to all numbers; NaN if there is no number.
template <typename T>
struct NanMaxOf : MaxOf<T> {
    using Acc = ComputeType<T>;
    static constexpr Built kBuilt = kBuiltForFloats<T>;
    static Acc Identity() { return std::numeric_limits<Acc>::quiet_NaN(); }
    static Acc Combine(Acc a, Acc b) { return ((b > a) | (a != a)) ? b : a; }
};
template <typename T>
using NanMaxPolicy = std::conditional_t<kIsFloatingType<T>, NanMaxOf<T>, NoPolicy>;

template <typename T>
struct NanMinOf : MinOf<T> {
    using Acc = ComputeType<T>;
    static constexpr Built kBuilt = kBuiltForFloats<T>;
    static Acc Identity() { return std::numeric_limits<Acc>::quiet_NaN(); }
    static Acc Combine(Acc a, Acc b) { return ((b < a) | (a != a)) ? b : a; }
};
template <typename T>
using NanMinPolicy = std::conditional_t<kIsFloatingType<T>, NanMinOf<T>, NoPolicy>;

// The sum of exp(x - center).
template <typename T>
struct ExpOf {
    using Item = T;
    using Center = FloatAcc<T>;
    using Acc = Center;
    static constexpr Built kBuilt = Built::kOnce;
    static Acc Identity() { return Acc(0); }
    static Acc Load(T x, Center c) { return std::exp(Cast<Acc>(x) - c); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};
template <typename T>
using ExpPolicy = std::conditional_t<kIsComplexType<T>, NoPolicy, ExpOf<T>>;

}  // namespace
}  // namespace chainerx::native
