// The namespace math of the elementwise tables for integers and bools, and predicates of complex
// numbers. Functions of floats and complex numbers are computed in batches instead (native/math/
// simd).
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
#define CX_DIVIDE_LOOP(Name, Tag, loops)                            \
    template <typename T>                                           \
    inline BinaryLoop Name(T, Tag) {                                \
        return divide_loops().loops[static_cast<int>(kDtypeOf<T>)]; \
    }
CX_DIVIDE_LOOP(FloorDiv, AnyScalar, floor)
CX_DIVIDE_LOOP(Mod, AnyScalar, remainder)
CX_DIVIDE_LOOP(FloorDiv, AnyArray, floor_of_pairs)
CX_DIVIDE_LOOP(Mod, AnyArray, remainder_of_pairs)
CX_DIVIDE_LOOP(Fmod, AnyArray, fmod_of_pairs)
#undef CX_DIVIDE_LOOP
template <typename T>
inline BinaryLoop Pow(T, AnyArray) {
    return &PowerOfPairs<T>;
}

// Functions of floats and complex numbers only: the dtype rules of their rows exclude all other
// types.
struct FloatsOnly {
    void operator()(const auto&...) const = delete;
};
inline constexpr FloatsOnly Sqrt, Exp, Exp2, Expm1, Log, Log1p, Log2, Log10, Sin, Cos, Tan, Asin,
    Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Sigmoid, Cbrt, Erf, Erfc, Erfcx, ErfcxSlope,
    Erfinv, Erfcinv, Ndtr, LogNdtr, LogNdtrSlope, Ndtri, Logit, LogExpit, Entr, I0, I0e, I1, I1e,
    BesselRatio, BesselMoment, Lgamma, Digamma, Silu, SiluSlope, Mish, MishSlope, GeluErf,
    GeluErfSlope, GeluTanh, GeluTanhSlope, Rint, Copysign, Nextafter, MaximumShare, MinimumShare,
    LogAddExp, LogAddExp2, Atan2, Hypot, Xlogy, Xlog1py, RelEntr, Polygamma, Zeta, Gammainc,
    Gammaincc, Gammaincinv, Gammainccinv, GammaDensity, GammaincSlope, BetaincSlope, Betainc,
    Betaincinv, BetaDensity, LogGammaDensity, LogGammainc, LogGammaincc, GammaincRate,
    GammainccRate, LogGammaincSlope, LogGammainccSlope, BetaincSlopeB, LogBetaDensity, LogBetainc,
    LogBetaincc, BetaincRate, BetainccRate, LogBetaincSlope, LogBetaincSlopeB, LogBetainccSlope,
    LogBetainccSlopeB, Betaincc;

}  // namespace chainerx::native::math
