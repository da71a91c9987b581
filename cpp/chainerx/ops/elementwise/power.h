// The derivatives of powers, which have special cases where a factor is 0.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Returns x2 * x1^(x2 - 1), and 0 where x2 == 0, though the power may be infinite there.
// Differentiable in both, any order.
CX_API Array PowerByBase(const Array& x1, const Array& x2);
CX_API Array PowerByBase(const Array& x1, const Scalar& x2);

// Returns y log(x1), the derivative of y = x1^x2 in x2, and 0 where x1 == 0 and y is finite.
CX_API Array PowerByExponent(const Array& x1, const Array& y);
CX_API Array PowerByExponent(const Scalar& x1, const Array& y);

}  // namespace chainerx
