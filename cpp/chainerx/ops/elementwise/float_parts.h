// Parts of floating-point numbers, and their neighbours. Real dtypes; integers and bool are
// converted to the default float.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise/real_operands.h"

namespace chainerx {

// Returns the fraction, in [1/2, 1), and the exponent of two (int32); for 0, infinities and NaN,
// the number itself and 0. The fraction is differentiable.
CX_API std::pair<Array, Array> Frexp(const Array& x);
// Returns x1 * 2^x2, rounded once. x2 must be integers. Differentiable in x1.
CX_API Array Ldexp(const Array& x1, const Array& x2);
CX_API Array Ldexp(const Array& x1, const Scalar& x2);
CX_API Array Ldexp(const Scalar& x1, const Array& x2);
// Returns the fractional part, with the sign of x, and the integral part. The first is
// differentiable.
CX_API std::pair<Array, Array> Modf(const Array& x);

// Returns the next representable number after x1 towards x2.
CX_API Array Nextafter(const Array& x1, const Array& x2);
CX_WITH_NUMBERS(Nextafter)
// Returns the distance to the next number away from 0, with the sign of x; NaN for infinities.
CX_API Array Spacing(const Array& x);

}  // namespace chainerx
