// What floating point numbers are made of, and which ones are next to them. Real dtypes; integers
// and bool as the default float.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise/real_operands.h"

namespace chainerx {

// The fraction, from 1/2 up to 1, and the power of two (int32); of 0, infinities and nan,
// themselves and 0. The fraction is differentiable.
CX_API std::pair<Array, Array> Frexp(const Array& x);
// x1 * 2^x2, rounded once. x2: integers. Differentiable in x1.
CX_API Array Ldexp(const Array& x1, const Array& x2);
CX_API Array Ldexp(const Array& x1, const Scalar& x2);
CX_API Array Ldexp(const Scalar& x1, const Array& x2);
// The part behind the point, with the sign of x, and the whole part. The first is differentiable.
CX_API std::pair<Array, Array> Modf(const Array& x);

// The number next to x1, on the side of x2.
CX_API Array Nextafter(const Array& x1, const Array& x2);
CX_WITH_NUMBERS(Nextafter)
// The way to the next number away from 0, with the sign of x; nan for infinities.
CX_API Array Spacing(const Array& x);

}  // namespace chainerx
