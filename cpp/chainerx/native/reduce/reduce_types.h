// Types of elements and accumulators, and the common base of all policies (reduce_policies.h).
#pragma once

#include <complex>
#include <limits>
#include <type_traits>

#include "chainerx/native/reduce/reduce_loops.h"

namespace chainerx::native {
namespace {

struct NoCenter {};

template <typename T>
inline constexpr bool kIsFloatingType = GetKind(kDtypeOf<T>) == DtypeKind::kFloat;
template <typename T>
inline constexpr bool kIsInexactType = kIsFloatingType<T> || kIsComplexType<T>;

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <typename T>
inline constexpr bool kHasBatches = std::is_same_v<T, float> || std::is_same_v<T, double>;
// Types that reduce/simd/reduce.cc reduces in batches.
template <typename T>
inline constexpr Built kBuiltForFloats = kHasBatches<T> ? Built::kInBatches : Built::kOnce;
// Types with loops of each instruction set: all but 16-bit floats, whose conversion dominates.
template <typename T>
inline constexpr Built kBuiltForMost = kIsHalf<T>       ? Built::kOnce
                                       : kHasBatches<T> ? Built::kInBatches
                                                        : Built::kPerSet;

// Integers are summed in 64 bits: int64 holds the sum of any 2^31 narrower ones. Only uint64 stays
// unsigned, since half of its values would be negative as int64.
template <typename T>
using TotalAcc =
    std::conditional_t<kIsInexactType<T>, ComputeType<T>,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;
template <typename T>
using TotalOut = std::conditional_t<kIsInexactType<T>, T, TotalAcc<T>>;
// Sums and products wrap, which is defined for unsigned integers only.
template <typename T>
using TotalItem = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
// float64 is exact for sums of integers up to 2^53.
template <typename T>
using MeanAcc = std::conditional_t<kIsInexactType<T>, ComputeType<T>, double>;
template <typename T>
using MeanOut = std::conditional_t<kIsInexactType<T>, T, float>;
// logsumexp: integers count as the float32 of the result, computed in float64.
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

// Returns whether `v` replaces `best`, the extreme of the elements before it; NaN is above all, or
// ignored.
template <bool kLargest, bool kIgnoresNan, typename T>
bool Surpasses(T v, T best) {
    const bool beats = kLargest ? v > best : v < best;
    return beats | (kIgnoresNan ? !IsNan(v) & IsNan(best) : IsNan(v) & !IsNan(best));
}

// The additive identity: a zero that changes nothing, not even the sign of a zero.
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

// Without the standard operator's branches on NaN and infinity.
template <typename C>
C Times(C a, C b) {
    if constexpr (kIsComplexType<C>) {
        return C{a.real() * b.real() - a.imag() * b.imag(),
                 a.real() * b.imag() + a.imag() * b.real()};
    } else {
        return a * b;
    }
}

template <size_t kSize>
using UnsignedOf = std::conditional_t<
    kSize == 1, uint8_t,
    std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;

// A 16-bit float as bits: it is true unless all bits but the sign are zero.
struct HalfBits {
    uint16_t bits;
};

template <typename T>
using TruthItem = std::conditional_t<std::is_integral_v<T>, UnsignedOf<sizeof(T)>,
                                     std::conditional_t<kIsHalf<T>, HalfBits, T>>;

template <typename T>
bool IsNonzero(T x) {
    if constexpr (std::is_same_v<T, HalfBits>) {
        return (x.bits & 0x7fff) != 0;
    } else {
        return x != T{};
    }
}

}  // namespace
}  // namespace chainerx::native
