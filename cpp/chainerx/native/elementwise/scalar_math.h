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
struct FloatsOnly {
    void operator()(const auto&...) const = delete;
};
inline constexpr FloatsOnly Sigmoid, Cbrt, Erf, Erfc, Erfcx, ErfcxSlope, Erfinv, Erfcinv, Ndtr,
    LogNdtr, LogNdtrSlope, Ndtri, Logit, LogExpit, Entr, I0, I0e, I1, I1e, BesselRatio,
    BesselMoment, Lgamma, Digamma, Silu, SiluSlope, Mish, MishSlope, GeluErf, GeluErfSlope,
    GeluTanh, GeluTanhSlope, Rint, Copysign, Nextafter, MaximumShare, MinimumShare, LogAddExp,
    LogAddExp2, Atan2, Hypot, Xlogy, Xlog1py, RelEntr, Polygamma, Zeta, Gammainc, Gammaincc,
    Gammaincinv, Gammainccinv, GammaDensity, GammaincSlope, BetaincSlope, Betainc, Betaincinv,
    BetaDensity, LogGammaDensity, LogGammainc, LogGammaincc, GammaincRate, GammainccRate,
    LogGammaincSlope, LogGammainccSlope, BetaincSlopeB, LogBetaDensity, LogBetainc, LogBetaincc,
    BetaincRate, BetainccRate, LogBetaincSlope, LogBetaincSlopeB, LogBetainccSlope,
    LogBetainccSlopeB, Betaincc;

}  // namespace chainerx::native::math
