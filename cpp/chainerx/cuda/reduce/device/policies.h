// What is reduced, and how it is stored. As native/reduce/reduce_policies.h and reduce_stores.h.
//
// A policy has Acc, the type of accumulators, Center, what Load subtracts, Identity(), Load(),
// which converts an element, and Combine(). A store has Out and Of(acc, count, center).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/cuda/device/numbers.h"

namespace chainerx::cuda {

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<Number<T>>;
template <typename T>
inline constexpr bool kIsInexact = kIsFloat<T> || kIsComplex<T>;
// Integers are summed in 64 bits.
template <typename T>
using TotalOf =
    std::conditional_t<kIsInexact<T>, Number<T>,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;
template <typename T>
using MeanOf = std::conditional_t<kIsInexact<T>, Number<T>, double>;

struct NoCenter {};

// A zero that changes nothing, not even the sign of a zero.
template <typename Acc>
inline Acc ZeroOf() {
    if constexpr (std::is_floating_point_v<Acc>) {
        return Acc(-0.0);
    } else if constexpr (native::kIsComplexNumber<Acc>) {
        return Acc(-0.0f, -0.0f);
    } else {
        return Acc(0);
    }
}

template <typename T, typename AccType>
struct SumIn {
    using Acc = AccType;
    using Center = NoCenter;
    static Acc Identity() { return ZeroOf<Acc>(); }
    static Acc Load(const T& x, NoCenter) { return static_cast<Acc>(static_cast<Number<T>>(x)); }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (std::is_integral_v<Acc>) {
            return static_cast<Acc>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        } else {
            return a + b;
        }
    }
};
template <typename T>
struct Sum : SumIn<T, TotalOf<T>> {};
template <typename T>
struct WideSum : SumIn<T, double> {};
// 64-bit integers are summed in float64, since their sums may overflow.
template <typename T>
struct Mean : SumIn<T, std::conditional_t<!kIsInexact<T> && sizeof(T) == 8, double, TotalOf<T>>> {};

template <typename T>
struct NanSum : SumIn<T, TotalOf<T>> {
    static TotalOf<T> Load(const T& x, NoCenter) {
        const auto v = static_cast<TotalOf<T>>(static_cast<Number<T>>(x));
        return v == v ? v : TotalOf<T>(0);
    }
};

template <typename T>
struct Prod : SumIn<T, TotalOf<T>> {
    using Acc = TotalOf<T>;
    static Acc Identity() { return Acc(1); }
    static Acc Combine(Acc a, Acc b) {
        if constexpr (std::is_integral_v<Acc>) {
            return static_cast<Acc>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        } else {
            return a * b;
        }
    }
};

// Squared distances from a center.
template <typename T>
struct Squares {
    using Center = MeanOf<T>;
    using Acc = native::RealOf<Center>;
    static Acc Identity() { return Acc(0); }
    static Acc Load(const T& x, Center c) {
        const Center d = static_cast<Center>(static_cast<Number<T>>(x)) - c;
        if constexpr (kIsComplex<T>) {
            return d.real() * d.real() + d.imag() * d.imag();
        } else {
            return d * d;
        }
    }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};
template <typename T>
struct SumSquares {
    using Acc = Number<T>;
    using Center = NoCenter;
    static Acc Identity() { return Acc(0); }
    static Acc Load(const T& x, NoCenter) {
        const auto v = static_cast<Acc>(x);
        return v * v;
    }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

// NaN wins over all, and stays; or it gives way to all numbers.
template <typename T, bool kLargest, bool kSkipsNan>
struct Extreme {
    using Acc = Number<T>;
    using Center = NoCenter;
    static Acc Identity() {
        if constexpr (kSkipsNan) {
            return std::numeric_limits<Acc>::quiet_NaN();
        } else if constexpr (kIsFloat<T>) {
            return kLargest ? -std::numeric_limits<Acc>::infinity()
                            : std::numeric_limits<Acc>::infinity();
        } else {
            return kLargest ? std::numeric_limits<Acc>::lowest() : std::numeric_limits<Acc>::max();
        }
    }
    static Acc Load(const T& x, NoCenter) { return static_cast<Acc>(x); }
    static Acc Combine(Acc a, Acc b) {
        const bool wins = kLargest ? b > a : b < a;
        return wins || (kSkipsNan ? a != a : b != b) ? b : a;
    }
};
template <typename T>
struct Max : Extreme<T, true, false> {};
template <typename T>
struct Min : Extreme<T, false, false> {};
template <typename T>
struct NanMax : Extreme<T, true, true> {};
template <typename T>
struct NanMin : Extreme<T, false, true> {};

template <typename T>
struct Truth {
    using Center = NoCenter;
    static bool Load(const T& x, NoCenter) { return static_cast<Number<T>>(x) != Number<T>(0); }
};
template <typename T>
struct All : Truth<T> {
    using Acc = bool;
    static Acc Identity() { return true; }
    static Acc Combine(Acc a, Acc b) { return a && b; }
};
template <typename T>
struct Any : Truth<T> {
    using Acc = bool;
    static Acc Identity() { return false; }
    static Acc Combine(Acc a, Acc b) { return a || b; }
};
template <typename T>
struct CountNonzero : Truth<T> {
    using Acc = int64_t;
    static Acc Identity() { return 0; }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename Out>
struct StoreCast {
    template <typename Acc, typename Center>
    static Out Of(Acc a, int64_t /*count*/, Center) {
        return AsConverted::Store<Out>(a);
    }
};
// The quotient by the number of elements.
template <typename Out>
struct StoreQuotient {
    template <typename Acc, typename Center>
    static Out Of(Acc a, int64_t count, Center) {
        using C = std::conditional_t<std::is_integral_v<Acc>, double, Acc>;
        return AsConverted::Store<Out>(C(a) / static_cast<native::RealOf<C>>(count));
    }
};
template <typename Out>
struct StoreRoot {
    template <typename Acc, typename Center>
    static Out Of(Acc a, int64_t count, Center) {
        const Acc quotient = a / static_cast<Acc>(count);
        if constexpr (sizeof(Acc) == sizeof(float)) {
            return AsConverted::Store<Out>(::sqrtf(quotient));
        } else {
            return AsConverted::Store<Out>(::sqrt(quotient));
        }
    }
};

}  // namespace chainerx::cuda
