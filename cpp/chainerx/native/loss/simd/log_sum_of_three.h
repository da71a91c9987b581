// The sum of a step of the alpha recursion, in logarithms.
#pragma once

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// log(exp(a) + exp(b) + exp(c)), where any may be -inf.
template <typename T>
inline Batch<T> LogSumOfThree(const Batch<T>& a, const Batch<T>& b, const Batch<T>& c) {
    const Batch<T> none(-static_cast<T>(__builtin_inf()));
    const Batch<T> max = xsimd::max(a, xsimd::max(b, c));
    const Batch<T> least(T(-50));  // anything less adds nothing to 1
    const auto part = [&](const Batch<T>& x) {
        return math::Exp(math::MaxOrSecond(least, x - max));
    };
    const auto is_none = (a == none) & (b == none) & (c == none);  // NaN is not included
    return xsimd::select(is_none, none, max + math::Log(part(a) + part(b) + part(c)));
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
