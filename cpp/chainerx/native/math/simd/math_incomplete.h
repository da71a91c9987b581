// math:: the incomplete gamma and beta functions. The number of terms of their series and fractions
// depends on the lane, so lanes are computed one by one, in double.
#pragma once

#include "chainerx/native/math/incomplete_gamma_beta.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

template <typename F, typename T, typename... B>
inline Batch<T> EachLane(const F& f, const Batch<T>& first, const B&... others) {
    constexpr size_t kCount = 1 + sizeof...(others);
    alignas(64) T in[kCount][Batch<T>::size];
    alignas(64) T out[Batch<T>::size];
    size_t k = 0;
    first.store_aligned(in[k++]);
    (others.store_aligned(in[k++]), ...);
    for (size_t i = 0; i < Batch<T>::size; ++i) {
        if constexpr (kCount == 2) {
            out[i] = static_cast<T>(f(in[0][i], in[1][i]));
        } else {
            out[i] = static_cast<T>(f(in[0][i], in[1][i], in[2][i]));
        }
    }
    return Batch<T>::load_aligned(out);
}

#define CX_OF_TWO(Name, function)                                  \
    template <typename T>                                          \
    inline Batch<T> Name(const Batch<T>& x1, const Batch<T>& x2) { \
        return EachLane(native::function, x1, x2);                 \
    }
#define CX_OF_THREE(Name, function)                                                    \
    template <typename T>                                                              \
    inline Batch<T> Name(const Batch<T>& x1, const Batch<T>& x2, const Batch<T>& x3) { \
        return EachLane(native::function, x1, x2, x3);                                 \
    }
CX_OF_TWO(Gammainc, GammaBelow)
CX_OF_TWO(Gammaincc, GammaAbove)
CX_OF_TWO(Gammaincinv, GammaBelowInverse)
CX_OF_TWO(Gammainccinv, GammaAboveInverse)
CX_OF_TWO(GammaDensity, GammaDensity)
CX_OF_TWO(GammaincSlope, GammaBelowSlope)
CX_OF_TWO(LogGammaDensity, LogGammaDensity)
CX_OF_TWO(LogGammainc, LogGammaBelow)
CX_OF_TWO(LogGammaincc, LogGammaAbove)
CX_OF_TWO(GammaincRate, LogGammaBelowRate)
CX_OF_TWO(GammainccRate, LogGammaAboveRate)
CX_OF_TWO(LogGammaincSlope, LogGammaBelowSlope)
CX_OF_TWO(LogGammainccSlope, LogGammaAboveSlope)
CX_OF_THREE(BetaincSlope, BetaBelowSlopeA)
CX_OF_THREE(BetaincSlopeB, BetaBelowSlopeB)
CX_OF_THREE(LogBetaDensity, LogBetaDensity)
CX_OF_THREE(LogBetainc, LogBetaBelow)
CX_OF_THREE(LogBetaincc, LogBetaAbove)
CX_OF_THREE(BetaincRate, LogBetaBelowRate)
CX_OF_THREE(BetainccRate, LogBetaAboveRate)
CX_OF_THREE(LogBetaincSlope, LogBetaBelowSlopeA)
CX_OF_THREE(LogBetaincSlopeB, LogBetaBelowSlopeB)
CX_OF_THREE(LogBetainccSlope, LogBetaAboveSlopeA)
CX_OF_THREE(LogBetainccSlopeB, LogBetaAboveSlopeB)
CX_OF_THREE(Betainc, BetaBelow)
CX_OF_THREE(Betaincc, BetaAbove)
CX_OF_THREE(Betaincinv, BetaBelowInverse)
CX_OF_THREE(BetaDensity, BetaDensity)
#undef CX_OF_TWO
#undef CX_OF_THREE

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
