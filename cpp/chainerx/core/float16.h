// The two 16-bit floating-point types. They only store; arithmetic is in float.
#pragma once

#include <bit>
#include <cstdint>

namespace chainerx {

// IEEE 754 binary16. Conversion from float rounds to nearest, ties to even.
class Float16 {
 public:
    Float16() = default;
    explicit Float16(float value) : bits_{FromFloat(value)} {}
    // Rounds to odd in float first, so that double -> half rounds once.
    explicit Float16(double value) : bits_{FromFloat(RoundToOdd(value))} {}
    explicit operator float() const { return ToFloat(bits_); }
    explicit operator double() const { return ToFloat(bits_); }

    static Float16 FromBits(uint16_t bits) {
        Float16 h;
        h.bits_ = bits;
        return h;
    }
    uint16_t bits() const { return bits_; }

    static float RoundToOdd(double value) {
        const auto f = static_cast<float>(value);
        if (static_cast<double>(f) == value || value != value) return f;
        auto u = std::bit_cast<uint32_t>(f);
        if ((u & 0x7fffffffu) == 0x7f800000u) return f;  // out of range of float, hence of half
        // Truncation gives a neighbour; sets its sticky bit.
        const double af = f < 0 ? -static_cast<double>(f) : static_cast<double>(f);
        const double av = value < 0 ? -value : value;
        if (af > av) --u;
        return std::bit_cast<float>(u | 1u);
    }

 private:
    static uint16_t FromFloat(float value) {
        const auto u = std::bit_cast<uint32_t>(value);
        const uint32_t sign = (u >> 16) & 0x8000u;
        const uint32_t a = u & 0x7fffffffu;
        if (a > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((a >> 13) & 0x3ffu));
        if (a >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
        if (a >= 0x38800000u) {  // normal half, possibly rounding up to infinity
            const uint32_t r = a - 0x38000000u + 0xfffu + ((a >> 13) & 1u);
            return static_cast<uint16_t>(sign | (r >> 13));
        }
        if (a < 0x33000000u) return static_cast<uint16_t>(sign);
        const uint32_t shift = 126u - (a >> 23);
        const uint32_t m = (a & 0x7fffffu) | 0x800000u;
        const uint32_t q = m >> shift;
        const uint32_t rest = m & ((1u << shift) - 1u);
        const uint32_t half = 1u << (shift - 1u);
        return static_cast<uint16_t>(sign | (q + (rest > half || (rest == half && (q & 1u)))));
    }
    static float ToFloat(uint16_t h) {
        const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
        const uint32_t e = (h >> 10) & 0x1fu;
        const uint32_t m = h & 0x3ffu;
        if (e == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (m << 13));
        if (e != 0) return std::bit_cast<float>(sign | ((e + 112u) << 23) | (m << 13));
        const float f = static_cast<float>(m) * 0x1p-24f;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(f) | sign);
    }

    uint16_t bits_;
};

// The upper half of a float. Conversion rounds to nearest, ties to even.
class BFloat16 {
 public:
    BFloat16() = default;
    explicit BFloat16(float value) : bits_{FromFloat(value)} {}
    explicit BFloat16(double value) : bits_{FromFloat(Float16::RoundToOdd(value))} {}
    explicit operator float() const {
        return std::bit_cast<float>(static_cast<uint32_t>(bits_) << 16);
    }
    explicit operator double() const { return static_cast<float>(*this); }

    static BFloat16 FromBits(uint16_t bits) {
        BFloat16 h;
        h.bits_ = bits;
        return h;
    }
    uint16_t bits() const { return bits_; }

 private:
    static uint16_t FromFloat(float value) {
        const auto u = std::bit_cast<uint32_t>(value);
        if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
        return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }

    uint16_t bits_;
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2, "arrays of them are mapped to memory");

}  // namespace chainerx
