// The namespace math of the elementwise tables for integers, bools and complex numbers. Floats are
// computed in batches instead (native/math/simd/math.h).
#pragma once

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/complex_math.h"
#include "chainerx/native/elementwise/divide_loops.h"
#include "chainerx/native/elementwise/integer_math.h"
#include "chainerx/native/elementwise/power_loop.h"

namespace chainerx::native::math {

// Tags for special loops: AnyScalar if x2 is a single value, AnyArray otherwise.
struct AnyScalar {};
struct AnyArray {};
template <typename T>
inline BinaryLoop FloorDiv(T, AnyScalar) {
    return divide_loops().floor[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Mod(T, AnyScalar) {
    return divide_loops().remainder[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop FloorDiv(T, AnyArray) {
    return divide_loops().floor_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Mod(T, AnyArray) {
    return divide_loops().remainder_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Fmod(T, AnyArray) {
    return divide_loops().fmod_of_pairs[static_cast<int>(kDtypeOf<T>)];
}
template <typename T>
inline BinaryLoop Pow(T, AnyArray) {
    return &PowerOfPairs<T>;
}

// Functions of floats only: the dtype rules of their rows exclude all other types.
#define CX_FLOATS_ONLY(Name, ...) \
    template <typename T>         \
    T Name(__VA_ARGS__) = delete;
CX_FLOATS_ONLY(Sigmoid, T x)
CX_FLOATS_ONLY(Cbrt, T x)
CX_FLOATS_ONLY(Erf, T x)
CX_FLOATS_ONLY(Erfc, T x)
CX_FLOATS_ONLY(Erfcx, T x)
CX_FLOATS_ONLY(ErfcxSlope, T x)
CX_FLOATS_ONLY(Erfinv, T x)
CX_FLOATS_ONLY(Erfcinv, T x)
CX_FLOATS_ONLY(Ndtr, T x)
CX_FLOATS_ONLY(LogNdtr, T x)
CX_FLOATS_ONLY(LogNdtrSlope, T x)
CX_FLOATS_ONLY(Ndtri, T x)
CX_FLOATS_ONLY(Logit, T x)
CX_FLOATS_ONLY(LogExpit, T x)
CX_FLOATS_ONLY(Entr, T x)
CX_FLOATS_ONLY(I0, T x)
CX_FLOATS_ONLY(I0e, T x)
CX_FLOATS_ONLY(I1, T x)
CX_FLOATS_ONLY(I1e, T x)
CX_FLOATS_ONLY(BesselRatio, T x, T order)
CX_FLOATS_ONLY(BesselMoment, T x, T order)
CX_FLOATS_ONLY(Lgamma, T x)
CX_FLOATS_ONLY(Digamma, T x)
CX_FLOATS_ONLY(Silu, T x)
CX_FLOATS_ONLY(SiluSlope, T x)
CX_FLOATS_ONLY(Mish, T x)
CX_FLOATS_ONLY(MishSlope, T x)
CX_FLOATS_ONLY(GeluErf, T x)
CX_FLOATS_ONLY(GeluErfSlope, T x)
CX_FLOATS_ONLY(GeluTanh, T x)
CX_FLOATS_ONLY(GeluTanhSlope, T x)
CX_FLOATS_ONLY(Rint, T x)
CX_FLOATS_ONLY(Copysign, T x1, T x2)
CX_FLOATS_ONLY(Nextafter, T x1, T x2)
CX_FLOATS_ONLY(MaximumShare, T x1, T x2)
CX_FLOATS_ONLY(MinimumShare, T x1, T x2)
CX_FLOATS_ONLY(LogAddExp, T x1, T x2)
CX_FLOATS_ONLY(LogAddExp2, T x1, T x2)
CX_FLOATS_ONLY(Atan2, T x1, T x2)
CX_FLOATS_ONLY(Hypot, T x1, T x2)
CX_FLOATS_ONLY(Xlogy, T x1, T x2)
CX_FLOATS_ONLY(Xlog1py, T x1, T x2)
CX_FLOATS_ONLY(RelEntr, T x1, T x2)
CX_FLOATS_ONLY(Polygamma, T x1, T x2)
CX_FLOATS_ONLY(Zeta, T x1, T x2)
CX_FLOATS_ONLY(Gammainc, T x1, T x2)
CX_FLOATS_ONLY(Gammaincc, T x1, T x2)
CX_FLOATS_ONLY(Gammaincinv, T x1, T x2)
CX_FLOATS_ONLY(Gammainccinv, T x1, T x2)
CX_FLOATS_ONLY(GammaDensity, T x1, T x2)
CX_FLOATS_ONLY(GammaincSlope, T x1, T x2)
CX_FLOATS_ONLY(BetaincSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betainc, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betaincinv, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetaDensity, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogGammaDensity, T x1, T x2)
CX_FLOATS_ONLY(LogGammainc, T x1, T x2)
CX_FLOATS_ONLY(LogGammaincc, T x1, T x2)
CX_FLOATS_ONLY(GammaincRate, T x1, T x2)
CX_FLOATS_ONLY(GammainccRate, T x1, T x2)
CX_FLOATS_ONLY(LogGammaincSlope, T x1, T x2)
CX_FLOATS_ONLY(LogGammainccSlope, T x1, T x2)
CX_FLOATS_ONLY(BetaincSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaDensity, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainc, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincc, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetaincRate, T x1, T x2, T x3)
CX_FLOATS_ONLY(BetainccRate, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetaincSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainccSlope, T x1, T x2, T x3)
CX_FLOATS_ONLY(LogBetainccSlopeB, T x1, T x2, T x3)
CX_FLOATS_ONLY(Betaincc, T x1, T x2, T x3)
#undef CX_FLOATS_ONLY

}  // namespace chainerx::native::math
