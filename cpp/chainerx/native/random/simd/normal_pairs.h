// Pairs of independent normal numbers by the Box-Muller transform (1958). Device sources include
// this file, too.
#pragma once

#include <cstdint>

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// Floats, from the bits `u` and `turn`.
struct NormalPairs {
    BatchF cosines;
    BatchF sines;

    NormalPairs(const Batch<uint32_t>& u, const Batch<uint32_t>& turn) {
        using Int = Batch<int32_t>;
        const auto to_float = [](const Batch<uint32_t>& x) {
            return xsimd::to_float(xsimd::bitwise_cast<int32_t>(x));
        };
        // With a single rounding.
        const BatchF whole =
            to_float(u >> 16) * BatchF(65536.0f) + to_float(u & Batch<uint32_t>(0xffffu));
        const BatchF radius =
            xsimd::sqrt(math::Log((whole + BatchF(0.5f)) * BatchF(0x1p-32f)) * BatchF(-2.0f));
        const BatchF quarters = to_float(turn >> 8) * BatchF(0x1p-22f);
        const BatchF n = xsimd::nearbyint(quarters);
        const BatchF r = quarters - n;  // exact
        const BatchF z = r * r;
        const BatchF sine = r * Up(z, {1.5707963705062866f, -0.6459634900093079f,
                                       0.07968022674322128f, -0.004602177068591118f});
        const BatchF cosine = Up(z, {-1.2337005138397217f, 0.253669410943985f,
                                     -0.02086152881383896f, 0.0009067435166798532f}) *
                                  z +
                              BatchF(1.0f);
        const Int quadrant = xsimd::to_int(n);
        const auto odd = xsimd::batch_bool_cast<float>((quadrant & Int(1)) != Int(0));
        const auto sign = [](const Int& q) {
            return xsimd::bitwise_cast<float>((q & Int(2)) << 30);
        };
        cosines = radius * (math::Where(odd, sine, cosine) ^ sign(quadrant + Int(1)));
        sines = radius * (math::Where(odd, cosine, sine) ^ sign(quadrant));
    }

 private:
    static BatchF Up(const BatchF& z, const float (&c)[4]) {
        BatchF y(c[3]);
        for (int i = 2; i >= 0; --i) y = y * z + BatchF(c[i]);
        return y;
    }
};

// Doubles, from u = ToLogArgument(), of (0, 1], and an angle.
inline double ToLogArgument(uint64_t bits) {
    return static_cast<double>(static_cast<int64_t>(bits >> 11) + 1) * 0x1p-53;
}
inline double ToAngle(uint64_t bits) {
    return static_cast<double>(static_cast<int64_t>(bits >> 11)) * 0x1p-53 * 6.283185307179586;
}
inline void ToNormalPair(BatchD& u, BatchD& angle) {
    const BatchD radius = xsimd::sqrt(math::Log(u) * BatchD(-2.0));
    const BatchD cosine = radius * math::Cos(angle);
    angle = radius * math::Sin(angle);
    u = cosine;
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
