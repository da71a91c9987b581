// Integer power. All elements of a block take the squarings of their largest exponent, without a
// branch, so that the compiler vectorizes them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace chainerx::native {
namespace {

// Whether there is a 64-bit vector multiplication.
#if defined(__AVX512DQ__)
constexpr bool kMultiplies64 = true;
#else
constexpr bool kMultiplies64 = false;
#endif

// A negative power truncates: 0 unless the base is 1 or -1. Steps are 0 or 1.
template <typename T>
void PowerOfPairs(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                  void* out_data, int64_t n) {
    constexpr int64_t kBlock = 64;
    using U = std::make_unsigned_t<T>;
    using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, U>;  // holds products
    const auto* x1 = static_cast<const T*>(x1_data);
    const auto* x2 = static_cast<const T*>(x2_data);
    auto* out = static_cast<T*>(out_data);
    U base[kBlock];
    U exponent[kBlock];
    U power[kBlock];
    const auto fill = [](U* to, const T* x, int64_t step, int64_t count) {
        if (step == 0) {
            for (int64_t j = 0; j < count; ++j) to[j] = static_cast<U>(*x);
        } else {
            for (int64_t j = 0; j < count; ++j) to[j] = static_cast<U>(x[j]);
        }
        for (int64_t j = count; j < kBlock; ++j) to[j] = 0;
    };
    for (int64_t i = 0; i < n; i += kBlock) {
        const int64_t count = n - i < kBlock ? n - i : kBlock;
        fill(base, x1 + i * step1, step1, count);
        fill(exponent, x2 + i * step2, step2, count);
        if constexpr (std::is_signed_v<T>) {
            constexpr U kMinusOne = static_cast<U>(-1);
            for (int64_t j = 0; j < kBlock; ++j) {
                const U e = exponent[j];
                const U b = base[j];
                const bool is_negative = static_cast<T>(e) < 0;
                const bool is_one = b == 1 || b == kMinusOne;
                // For bases 1 and -1 the parity of the exponent decides; other bases give 0.
                exponent[j] = is_negative ? static_cast<U>(2 - (e & 1)) : e;
                base[j] = is_negative && !is_one ? U{0} : b;
            }
        }
        if constexpr (sizeof(T) == 8 && !kMultiplies64) {
            for (int64_t j = 0; j < count; ++j) {
                U y = 1;
                U b = base[j];
                for (U e = exponent[j]; e != 0; e >>= 1, b *= b) {
                    if ((e & 1) != 0) y *= b;
                }
                out[i + j] = static_cast<T>(y);
            }
            continue;
        }
        U left = 0;
        for (int64_t j = 0; j < kBlock; ++j) {
            left |= exponent[j];
            power[j] = 1;
        }
        for (; left != 0; left = static_cast<U>(left >> 1)) {
            for (int64_t j = 0; j < kBlock; ++j) {
                const Wide b = base[j];
                const U e = exponent[j];
                const auto product = static_cast<U>(power[j] * b);
                power[j] = (e & 1) != 0 ? product : power[j];
                base[j] = static_cast<U>(b * b);
                exponent[j] = static_cast<U>(e >> 1);
            }
        }
        for (int64_t j = 0; j < count; ++j) out[i + j] = static_cast<T>(power[j]);
    }
}

}  // namespace
}  // namespace chainerx::native
