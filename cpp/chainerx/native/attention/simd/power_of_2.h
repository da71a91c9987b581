// The exponential function of attention's weights.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// 2^x for x <= 0 or slightly above it. Denormal results become 0.
template <typename T>
inline Batch<T> PowerOf2(const Batch<T>& x) {
    const Batch<T> least(sizeof(T) == 4 ? T(-126) : T(-1022));
    const Batch<T> bounded = math::MaxOrSecond(least, x);  // keeps NaN
    const Batch<T> n = xsimd::nearbyint(bounded);
    const Batch<T> y = math::Exp2Core(bounded - n) * math::Pow2(n);
    return math::Where(x < least, Batch<T>(T(0)), y);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
