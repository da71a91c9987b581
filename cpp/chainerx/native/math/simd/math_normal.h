// math:: the complementary error function, the normal distribution, and their inverses.
//
// All are based on erfcx(x) = exp(x^2) erfc(x) for x >= 0, which neither over- nor underflows: a
// polynomial in t = (x - 4) / (x + 4) over 1 + 2 x, the form of Shepherd and Laframboise (1981).
// The coefficients are our own, interpolated at Chebyshev points in 50 digits. Floats are computed
// in double, with fewer of them.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_power.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

// Degree of a polynomial for results in float or double.
template <typename T>
inline constexpr bool kForFloat = sizeof(T) == 4;

// t, from 1 at infinity to -1 at 0, where rounding errors of the quotient matter and are corrected.
inline BatchD ErfcxPlace(const BatchD& x) {
    const BatchD d = x + BatchD(4.0);
    const BatchD d_low = x - (d - BatchD(4.0));
    const BatchD r = BatchD(8.0) / d;
    const BatchD back = r * d;
    const BatchD left = ((BatchD(8.0) - back) - ProductError(r, d, back)) - r * d_low;
    const BatchD r_low = left * r * BatchD(0.125);
    return BatchD(1.0) - r - Where(x < BatchD(4.0), r_low, BatchD(0.0));
}

// erfcx(x) for x >= 0.
template <typename T>
inline BatchD ErfcxAbove(const BatchD& x) {
    const BatchD t = ErfcxPlace(x);
    BatchD p;
    if constexpr (kForFloat<T>) {
        p = Poly(t, 0x1.3ba5916978b3cp+0, -0x1.1df1ad06aa653p-3, 0x1.f7f6dc02c4ca5p-7,
                 0x1.16ece498e3034p-4, -0x1.9ddd1e2d451b0p-4, 0x1.7feeb526ca3b8p-4,
                 -0x1.0fa48150d308ep-4, 0x1.307151650d6fdp-5, -0x1.09eb9b2071893p-6,
                 0x1.4a90cfbe277cap-8, -0x1.73be946f4bb19p-11, -0x1.c8e00ab7209ccp-13,
                 0x1.dee71c438d778p-14, -0x1.3baa6d905aa49p-17);
    } else {
        p = Poly(t, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd7bep-7,
                 0x1.16ecefcfa533fp-4, -0x1.9ddb23c3e9106p-4, 0x1.7fee004e13186p-4,
                 -0x1.0fb06dfe48b0ep-4, 0x1.3079edf668f38p-5, -0x1.0962388548d8dp-6,
                 0x1.49c6728db72cdp-8, -0x1.8d4a9990c5199p-11, -0x1.a1df2ad41dddep-13,
                 0x1.3be032de511d3p-13, -0x1.9958a8c635c6bp-16, -0x1.788189c990557p-17,
                 0x1.7f235478fdcf6p-18, 0x1.385bb6c82456ap-22, -0x1.badf24e872985p-21,
                 0x1.5305495fa5317p-24, 0x1.d8d5b12b4bdebp-24, -0x1.78888d24fa8a1p-26,
                 -0x1.f9443297365a1p-27, 0x1.117f492198859p-28, 0x1.ebb009434f4efp-30,
                 -0x1.2d277a41632e3p-31, -0x1.2dbbbb75b6682p-33, 0x1.7d604a7f621f4p-35);
    }
    return p / xsimd::fma(x, BatchD(2.0), BatchD(1.0));
}
// The derivative of erfcx for x >= 0; 2 x erfcx(x) - 2 / sqrt(pi) would cancel.
template <typename T>
inline BatchD ErfcxSlopeAbove(const BatchD& x) {
    const BatchD t = ErfcxPlace(x);
    const BatchD h = xsimd::fma(x, BatchD(2.0), BatchD(1.0));
    BatchD p;
    if constexpr (kForFloat<T>) {
        p = Poly(t, 0x1.4fc08f96c5ac8p+1, -0x1.651f2c6ed6c39p-2, -0x1.41126332a3bc4p-2,
                 0x1.56747012888b2p-1, -0x1.4da054ad6f72cp-1, 0x1.984b498463616p-2,
                 -0x1.d5f4788aaac2bp-4, -0x1.025a8f305c967p-4, 0x1.c9d3b8314cb4dp-4,
                 -0x1.55eff5066c48cp-4, 0x1.3f5ea0dceb4cfp-5, -0x1.3a6e0204605a6p-7,
                 -0x1.377de56a810b1p-10, 0x1.a77ef98fd9beap-10, -0x1.66c234a74677ep-13,
                 -0x1.b81100532b1b4p-14);
    } else {
        p = Poly(t, 0x1.4fc08f9a1f0edp+1, -0x1.651f2c6d3140bp-2, -0x1.4112709c780c9p-2,
                 0x1.56746fa964d25p-1, -0x1.4d9fc6f03a13dp-1, 0x1.984b5a911ddadp-2,
                 -0x1.d618589f0f6b0p-4, -0x1.025ca41cf14acp-4, 0x1.ca639bc4b3783p-4,
                 -0x1.55e81dfe05ebep-4, 0x1.3ce3435e0084ep-5, -0x1.3ae9a68763fbap-7,
                 -0x1.a792df09eebf0p-11, 0x1.ab55e054298e2p-10, -0x1.c8c37540829fap-12,
                 -0x1.ccc9a3f7c10ddp-14, 0x1.83de7c5e64813p-14, -0x1.6888d74c0a612p-19,
                 -0x1.da8f72afeca08p-17, 0x1.4db173af07b02p-19, 0x1.14974351f2089p-19,
                 -0x1.3f80aff04307fp-21, -0x1.522893012db8ep-22, 0x1.d53685486c48fp-24,
                 0x1.ab9664a2c4b06p-25, -0x1.0766d506f0a9bp-26, -0x1.d8bd0d3d01d7ep-28,
                 0x1.4d5fb52540d2bp-30, 0x1.3470af64c8ea9p-31);
    }
    return Negate(p / h) / h;
}

// exp(factor x^2), including the rounding error of the square, which exp would amplify.
inline BatchD ExpOfSquare(const BatchD& x, double factor) {
    const BatchD a = Clamp(x, -40.0, 40.0);  // beyond, the result is 0 or infinite
    const BatchD square = a * a;
    const BatchD low = ProductError(a, a, square) * BatchD(factor);
    const BatchD y = Exp(square * BatchD(factor));
    return Where(y < BatchD(__builtin_inf()), xsimd::fma(y, low, y), y);
}

template <typename T>
struct ErfcxOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD above = ErfcxAbove<T>(Abs(x));
        return Where(x < BatchD(0.0), BatchD(2.0) * ExpOfSquare(x, 1.0) - above, above);
    }
};
template <typename T>
struct ErfcxSlopeOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD below = xsimd::fma(x + x, ErfcxOf<T>::Apply(x), BatchD(-0x1.20dd750429b6dp+0));
        return Where(x < BatchD(0.0), below, ErfcxSlopeAbove<T>(Abs(x)));
    }
};
template <typename T>
struct ErfcOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD tail = ExpOfSquare(x, -1.0) * ErfcxAbove<T>(Abs(x));
        return Where(x < BatchD(0.5), BatchD(1.0) - Erf(x), tail);
    }
};

inline constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

// The survival function of the normal distribution at |x|.
template <typename T>
inline BatchD NormalTailOf(const BatchD& x) {
    return BatchD(0.5) * ExpOfSquare(x, -0.5) * ErfcxAbove<T>(Abs(x) * BatchD(kSqrtHalf));
}
template <typename T>
struct NdtrOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD tail = NormalTailOf<T>(x);
        return Where(x > BatchD(0.0), BatchD(1.0) - tail, tail);
    }
};
template <typename T>
struct LogNdtrOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD above = Log1p(Negate(NormalTailOf<T>(x)));
        const BatchD square = x * x;
        const BatchD low = ProductError(x, x, square);
        const BatchD half =
            BatchD(-0.5) * (square + Where(square < BatchD(0x1p900), low, BatchD(0.0)));
        const BatchD below = half + Log(BatchD(0.5) * ErfcxAbove<T>(Abs(x) * BatchD(kSqrtHalf)));
        return Where(x < BatchD(0.0), below, above);
    }
};

// The normal quantile at probability 1/2 + q; tail2 is 1 - 2 |q|, which the caller knows exactly.
// Algorithm AS 241, PPND16 (Wichura, 1988).
inline BatchD NormalQuantile(const BatchD& q, const BatchD& tail2) {
    const auto central = Abs(q) <= BatchD(0.425);
    const BatchD root = xsimd::sqrt(BatchD(0x1.62e42fefa39efp-1) - Log(tail2));
    const auto far = root > BatchD(5.0);
    const BatchD r =
        Where(central, BatchD(0.180625) - q * q, root - Where(far, BatchD(5.0), BatchD(1.6)));
    const BatchD up = Where(
        central,
        Poly(r, 3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
             3.3430575583588128105e4, 2.5090809287301226727e3),
        Where(far,
              Poly(r, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                   2.71155556874348757815e-5, 2.01033439929228813265e-7),
              Poly(r, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                   3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                   2.27238449892691845833e-2, 7.74545014278341407640e-4)));
    const BatchD down = Where(
        central,
        Poly(r, 1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
             2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
             5.2264952788528545610e3),
        Where(far,
              Poly(r, 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                   1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                   1.42151175831644588870e-7, 2.04426310338993978564e-15),
              Poly(r, 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                   6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                   5.47593808499534494600e-4, 1.05075007164441684324e-9)));
    const BatchD y = up / down;
    const BatchD outer = Where(tail2 == BatchD(0.0), BatchD(__builtin_inf()), y);
    return Where(central, q * y, Copysign(outer, q));
}

// double is needed in all cases, so float and double share the code.
template <typename T>
struct NdtriOf {
    static BatchD Apply(const BatchD& p) {
        const BatchD q = p - BatchD(0.5);
        return NormalQuantile(q, BatchD(2.0) * Where(q < BatchD(0.0), p, BatchD(1.0) - p));
    }
};
template <typename T>
struct ErfinvOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD y = NormalQuantile(x * BatchD(0.5), BatchD(1.0) - Abs(x)) * BatchD(kSqrtHalf);
        const BatchD tiny = x * BatchD(0x1.c5bf891b4ef6bp-1);  // where x / 2 may be denormal
        return Where(Abs(x) < BatchD(0x1p-500), tiny, y);
    }
};
// The density over the probability, in which exp(-x^2 / 2) cancels.
template <typename T>
struct LogNdtrSlopeOf {
    static BatchD Apply(const BatchD& x) {
        constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
        return BatchD(kSqrtTwoOverPi) / ErfcxOf<T>::Apply(x * BatchD(-kSqrtHalf));
    }
};
template <typename T>
struct ErfcinvOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD q = BatchD(0.5) * (x - BatchD(1.0));
        const BatchD tail2 = Where(q < BatchD(0.0), x, BatchD(2.0) - x);
        return NormalQuantile(q, tail2) * BatchD(-kSqrtHalf);
    }
};

template <template <typename> typename F>
inline BatchD InDouble(const BatchD& x) {
    return F<double>::Apply(x);
}
template <template <typename> typename F>
inline BatchF InDouble(const BatchF& x) {
    const PairD wide = Widen(x);
    return Narrow({F<float>::Apply(wide.low), F<float>::Apply(wide.high)});
}

// Defines Name(x), computed by NameOf.
#define CX_IN_DOUBLE(Name)                    \
    template <typename T>                     \
    inline Batch<T> Name(const Batch<T>& x) { \
        return InDouble<Name##Of>(x);         \
    }

CX_IN_DOUBLE(Erfc)
CX_IN_DOUBLE(Erfcx)
CX_IN_DOUBLE(ErfcxSlope)
CX_IN_DOUBLE(Erfinv)
CX_IN_DOUBLE(Erfcinv)
CX_IN_DOUBLE(Ndtr)
CX_IN_DOUBLE(LogNdtr)
CX_IN_DOUBLE(LogNdtrSlope)
CX_IN_DOUBLE(Ndtri)

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
