// Second names of routines, where Python has two as well.
#pragma once

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/bitwise.h"
#include "chainerx/ops/complex_parts.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/rounding.h"

namespace chainerx {

inline Array Abs(const Array& x) { return Absolute(x); }
inline Array BitwiseNot(const Array& x) { return Invert(x); }
inline Array Conjugate(const Array& x) { return Conj(x); }
inline Array Fix(const Array& x) { return Trunc(x); }
inline Array Max(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false) {
    return AMax(x, axes, keepdims);
}
inline Array Min(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false) {
    return AMin(x, axes, keepdims);
}

#define CX_ALIAS(Alias, Name)                                                      \
    inline Array Alias(const Array& x1, const Array& x2) { return Name(x1, x2); }  \
    inline Array Alias(const Array& x1, const Scalar& x2) { return Name(x1, x2); } \
    inline Array Alias(const Scalar& x1, const Array& x2) { return Name(x1, x2); }
CX_ALIAS(Mod, Remainder)
CX_ALIAS(TrueDivide, Divide)
#undef CX_ALIAS

}  // namespace chainerx
