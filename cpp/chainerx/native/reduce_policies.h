// What the reductions compute: policies of reduce_loops.h, and how an accumulator is stored.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "chainerx/native/reduce_loops.h"

namespace chainerx::native {
namespace {

struct NoCenter {};

template <typename T>
inline constexpr bool kIsFloatingType = GetKind(kDtypeOf<T>) == DtypeKind::kFloat;
template <typename T>
inline constexpr bool kIsInexactType = kIsFloatingType<T> || kIsComplexType<T>;

// Integers are summed in 64 bits: an int64 holds the sum of any 2^31 of the narrower ones. Only
// uint64 stays unsigned, for half of its values would be negative as int64.
template <typename T>
using TotalAcc =
    std::conditional_t<kIsInexactType<T>, ComputeType<T>,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;
// float64 is exact for sums of integers up to 2^53.
template <typename T>
using MeanAcc = std::conditional_t<kIsInexactType<T>, ComputeType<T>, double>;
template <typename T>
using MeanOut = std::conditional_t<kIsInexactType<T>, T, float>;
// Logarithms of sums: integers as the float32 that comes out, in float64.
template <typename T>
using FloatAcc = MeanAcc<T>;

template <typename T>
struct RealOf {
    using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
    using type = T;
};

template <typename T>
bool IsNan(T x) {
    if constexpr (kIsComplexType<T>) {
        return x.real() != x.real() || x.imag() != x.imag();
    } else {
        return x != x;
    }
}

// Whether `v` takes the place of `best`, the extreme of what came before it; a NaN is above all, or
// ignored.
template <bool kLargest, bool kIgnoresNan, typename T>
bool Surpasses(T v, T best) {
    const bool beats = kLargest ? v > best : v < best;
    return beats | (kIgnoresNan ? !IsNan(v) & IsNan(best) : IsNan(v) & !IsNan(best));
}

template <typename T>
bool IsNonzero(T x) {
    return Cast<ComputeType<T>>(x) != ComputeType<T>{};
}

// The zero that changes nothing when added, not even the sign of a zero.
template <typename C>
C AddIdentity() {
    if constexpr (std::is_integral_v<C>) {
        return 0;
    } else if constexpr (kIsComplexType<C>) {
        return C{-0.0f, -0.0f};
    } else {
        return C(-0.0);
    }
}

// Without the branches on NaN and infinity of the standard library's operator.
template <typename C>
C Times(C a, C b) {
    if constexpr (kIsComplexType<C>) {
        return C{a.real() * b.real() - a.imag() * b.imag(),
                 a.real() * b.imag() + a.imag() * b.real()};
    } else {
        return a * b;
    }
}

template <typename T>
struct SumPolicy {
    using Item = T;
    using Acc = TotalAcc<T>;
    using Center = NoCenter;
    static Acc Identity() { return AddIdentity<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename T>
struct NanSumPolicy : SumPolicy<T> {
    using Acc = TotalAcc<T>;
    static Acc Load(T x, NoCenter) {
        const auto v = Cast<Acc>(x);
        return IsNan(v) ? Acc{} : v;
    }
};

template <typename T>
struct ProdPolicy {
    using Item = T;
    using Acc = TotalAcc<T>;
    using Center = NoCenter;
    static Acc Identity() { return Acc(1); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return Times(a, b); }
};

// bool as a byte, for vectors have no lanes of bool.
template <typename T>
using ExtremeAcc = std::conditional_t<std::is_same_v<T, bool>, uint8_t,
                                      std::conditional_t<kIsFloatingType<T>, ComputeType<T>, T>>;

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

template <typename T, typename AccType>
struct MaxInto {
    using Item = T;
    using Acc = AccType;
    using Center = NoCenter;
    static Acc Identity() { return LowestOf<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    // A NaN wins over all, and stays.
    static Acc Combine(Acc a, Acc b) { return ((b > a) | (b != b)) ? b : a; }
};

// Complex numbers have no order; the routine refuses them, so these loops never run.
template <typename T>
using OrderedItem = std::conditional_t<kIsComplexType<T>, float, T>;

template <typename T>
struct MaxPolicy : MaxInto<OrderedItem<T>, ExtremeAcc<OrderedItem<T>>> {};

template <typename T>
struct MinPolicy {
    using Item = OrderedItem<T>;
    using Acc = ExtremeAcc<Item>;
    using Center = NoCenter;
    static Acc Identity() { return HighestOf<Acc>(); }
    static Acc Load(Item x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return ((b < a) | (b != b)) ? b : a; }
};

template <typename T>
struct MeanPolicy : SumPolicy<T> {
    using Acc = MeanAcc<T>;
    static Acc Identity() { return AddIdentity<Acc>(); }
    static Acc Load(T x, NoCenter) { return Cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

// Squared distance from the mean.
template <typename T>
struct SquarePolicy {
    using Item = T;
    using Center = MeanAcc<T>;
    using Acc = typename RealOf<Center>::type;
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
struct MaxFloatPolicy : MaxInto<OrderedItem<T>, FloatAcc<OrderedItem<T>>> {};

template <typename T>
struct ExpPolicy {
    using Item = OrderedItem<T>;
    using Center = FloatAcc<Item>;
    using Acc = Center;
    static Acc Identity() { return Acc(0); }
    static Acc Load(Item x, Center c) { return std::exp(Cast<Acc>(x) - c); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename T>
struct AllPolicy {
    using Item = T;
    using Acc = uint8_t;
    using Center = NoCenter;
    static Acc Identity() { return 1; }
    static Acc Load(T x, NoCenter) { return IsNonzero(x); }
    static Acc Combine(Acc a, Acc b) { return a & b; }
};

template <typename T>
struct AnyPolicy : AllPolicy<T> {
    using Acc = uint8_t;
    static Acc Identity() { return 0; }
    static Acc Combine(Acc a, Acc b) { return a | b; }
};

template <typename T>
struct CountPolicy {
    using Item = T;
    using Acc = int64_t;
    using Center = NoCenter;
    static Acc Identity() { return 0; }
    static Acc Load(T x, NoCenter) { return IsNonzero(x); }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

// Writes f(acc[j], j) to the outputs.
template <typename Out, typename Acc, typename F>
void StoreEach(const void* acc, int64_t n, char* out, int64_t stride, F f) {
    const auto* a = static_cast<const Acc*>(acc);
    for (int64_t j = 0; j < n; ++j) *reinterpret_cast<Out*>(out + j * stride) = f(a[j], j);
}

template <typename Out>
struct StoreCast {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void*, char* out, int64_t stride) {
        StoreEach<Out, Acc>(acc, n, out, stride, [](Acc a, int64_t) { return Cast<Out>(a); });
    }
};
template <typename T>
using TotalOut = std::conditional_t<kIsInexactType<T>, T, TotalAcc<T>>;
template <typename T>
struct StoreTotal : StoreCast<TotalOut<T>> {};
template <typename T>
struct StoreSame : StoreCast<OrderedItem<T>> {};
template <typename T>
struct StoreBool : StoreCast<bool> {};
template <typename T>
struct StoreCount : StoreCast<int64_t> {};

// The sum divided by the number of elements, in `Out`.
template <typename Out>
struct StoreQuotient {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t count, const void*, char* out,
                    int64_t stride) {
        using R = typename RealOf<Acc>::type;
        const R divisor = static_cast<R>(count);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t) { return Cast<Out>(Acc(a / divisor)); });
    }
};
template <typename T>
struct StoreMean : StoreQuotient<MeanOut<T>> {};
template <typename T>
struct StoreCenter : StoreQuotient<MeanAcc<T>> {};
template <typename T>
struct StoreVar : StoreQuotient<typename RealOf<MeanOut<T>>::type> {};
template <typename T>
struct StoreStd {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t count, const void*, char* out,
                    int64_t stride) {
        using Out = typename RealOf<MeanOut<T>>::type;
        const Acc divisor = static_cast<Acc>(count);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t) { return Cast<Out>(std::sqrt(a / divisor)); });
    }
};

// The maximum, or 0 where it is infinite: then exp(x - 0) is right as it is.
template <typename T>
struct StoreShift {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void*, char* out, int64_t stride) {
        StoreEach<Acc, Acc>(acc, n, out, stride,
                            [](Acc a, int64_t) { return std::isfinite(a) ? a : Acc(0); });
    }
};

template <typename T>
struct StoreLogSumExp {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void* center, char* out,
                    int64_t stride) {
        using Out = MeanOut<OrderedItem<T>>;
        const auto* c = static_cast<const Acc*>(center);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t j) { return Cast<Out>(Acc(std::log(a) + c[j])); });
    }
};

}  // namespace
}  // namespace chainerx::native
