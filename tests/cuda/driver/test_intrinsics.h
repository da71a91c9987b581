// CUDA's functions on bits and numbers that device sources use; test_prelude.h includes it.
#pragma once

#include <bit>

using uint3 = chainerx::cuda::test::Index3;
using dim3 = chainerx::cuda::test::Index3;

inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline unsigned __umulhi(unsigned x, unsigned y) {
    return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// As CUDA's: of two types the common one; of floating-point numbers the one that is not NaN.
template <typename T, typename U>
    requires std::is_arithmetic_v<T> && std::is_arithmetic_v<U>
constexpr std::common_type_t<T, U> max(T x, U y) {
    using C = std::common_type_t<T, U>;
    if constexpr (std::is_floating_point_v<C>)
        return std::fmax(static_cast<C>(x), static_cast<C>(y));
    else
        return static_cast<C>(x) < static_cast<C>(y) ? static_cast<C>(y) : static_cast<C>(x);
}
template <typename T, typename U>
    requires std::is_arithmetic_v<T> && std::is_arithmetic_v<U>
constexpr std::common_type_t<T, U> min(T x, U y) {
    using C = std::common_type_t<T, U>;
    if constexpr (std::is_floating_point_v<C>)
        return std::fmin(static_cast<C>(x), static_cast<C>(y));
    else
        return static_cast<C>(y) < static_cast<C>(x) ? static_cast<C>(y) : static_cast<C>(x);
}
