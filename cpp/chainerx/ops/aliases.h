// Aliases of routines that have two names in Python, too.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/composed_math.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx {

inline Array Abs(const Array& x) { return Absolute(x); }
inline Array BitwiseNot(const Array& x) { return Invert(x); }
inline Array Conjugate(const Array& x) { return Conj(x); }
inline Array Fix(const Array& x) { return Trunc(x); }
inline Array Acos(const Array& x) { return Arccos(x); }
inline Array Acosh(const Array& x) { return Arccosh(x); }
inline Array Asin(const Array& x) { return Arcsin(x); }
inline Array Asinh(const Array& x) { return Arcsinh(x); }
inline Array Atan(const Array& x) { return Arctan(x); }
inline Array Atanh(const Array& x) { return Arctanh(x); }
inline Array BitwiseInvert(const Array& x) { return Invert(x); }
inline Array Deg2Rad(const Array& x) { return Radians(x); }
inline Array Rad2Deg(const Array& x) { return Degrees(x); }
inline Array Around(const Array& x, int64_t decimals = 0) { return Round(x, decimals); }
inline bool IsComplexObj(const Array& x) { return IsComplex(x.dtype()); }
inline bool IsRealObj(const Array& x) { return !IsComplex(x.dtype()); }
inline Array Concat(const std::vector<Array>& arrays, std::optional<int8_t> axis = 0) {
    return Concatenate(arrays, axis);
}
inline Array PermuteDims(const Array& x, const OptionalAxes& axes) { return Transpose(x, axes); }
inline Array RowStack(std::span<const ConstArrayRef> arrays) { return VStack(arrays); }
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
CX_ALIAS(Atan2, Arctan2)
CX_ALIAS(BitwiseLeftShift, LeftShift)
CX_ALIAS(BitwiseRightShift, RightShift)
CX_ALIAS(Mod, Remainder)
CX_ALIAS(Pow, Power)
CX_ALIAS(TrueDivide, Divide)
#undef CX_ALIAS

}  // namespace chainerx
