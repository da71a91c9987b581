// The remainder of huge numbers by pi/2 (Payne and Hanek, 1983), for one number at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// x = (n + high + low) pi/2, of which n is known modulo 4 and |high + low| is at most 1/2.
struct HugeAngle {
    uint64_t n;
    double high;
    double low;
};

// The bits of 2/pi after the point.
alignas(64) inline constexpr uint64_t kTwoOverPi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// 64 of them from bit `at` on; those before the point are 0.
inline uint64_t TwoOverPiFrom(int at) {
    const int i = at >> 6;
    const int shift = at & 63;
    const uint64_t first = i < 0 ? 0 : kTwoOverPi[i];
    return shift == 0 ? first : first << shift | kTwoOverPi[i + 1] >> (64 - shift);
}
// The upper half of the product.
inline uint64_t MultiplyHigh(uint64_t a, uint64_t b) {
    constexpr uint64_t kLow = 0xffffffff;
    const uint64_t middle = (a >> 32) * (b & kLow) + ((a & kLow) * (b & kLow) >> 32);
    const uint64_t other = (a & kLow) * (b >> 32) + (middle & kLow);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

// For |x| of at least 2^40.
inline HugeAngle ReduceHuge(double x) {
    const uint64_t bits = std::bit_cast<uint64_t>(x);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff) {
        return {0, std::numeric_limits<double>::quiet_NaN(), 0};
    }
    // |x| 2/pi = m 2^e 2/pi, to 190 bits after the point; bits that make multiples of 4 are left
    // out.
    const uint64_t m = (bits & 0xfffffffffffff) | 0x10000000000000;
    const int at = exponent - 1075 - 2;
    const uint64_t w1 = TwoOverPiFrom(at + 64);
    const uint64_t w2 = TwoOverPiFrom(at + 128);
    const uint64_t p2 = m * w2;
    const uint64_t high2 = MultiplyHigh(m, w2);
    const uint64_t p1 = m * w1 + high2;
    const uint64_t carry = p1 < high2 ? 1 : 0;
    const uint64_t p0 = m * TwoOverPiFrom(at) + MultiplyHigh(m, w1) + carry;
    uint64_t n = p0 >> 62;
    uint64_t f0 = p0 << 2 | p1 >> 62;
    uint64_t f1 = p1 << 2 | p2 >> 62;
    double sign = x < 0 ? -1.0 : 1.0;
    if (f0 >> 63 != 0) {  // rounds to the nearest multiple
        ++n;
        f0 = ~f0 + (f1 == 0 ? 1 : 0);
        f1 = 0 - f1;
        sign = -sign;
    }
    // Sums of exact parts, with the errors of the additions.
    const auto part = [](uint64_t word) {
        return static_cast<double>(static_cast<uint32_t>(word));
    };
    const double a = part(f0 >> 32) * 0x1p-32;
    const double b = part(f0) * 0x1p-64;
    const double c = part(f1 >> 32) * 0x1p-96;
    const double d = part(f1) * 0x1p-128;
    const double sum = a + b;
    const double rest = c + d;
    const double next = (b - (sum - a)) + rest;
    const double high = sum + next;
    const double low = (next - (high - sum)) + (d - (rest - c));
    return {x < 0 ? 0 - n : n, sign * high, sign * low};
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
