// The derivative of powers, which needs care where a factor is 0.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// x2 * x1^(x2 - 1), and 0 where x2 == 0, though the power may be infinite there. Differentiable in
// both, any order.
CX_API Array PowerByBase(const Array& x1, const Array& x2);
CX_API Array PowerByBase(const Array& x1, const Scalar& x2);

}  // namespace chainerx
