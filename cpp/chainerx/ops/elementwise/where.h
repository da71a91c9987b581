// Selects between two operands by a condition.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// `condition` has any dtype; all three are broadcast to each other.
CX_API Array Where(const Array& condition, const Array& x, const Array& y);
CX_API Array Where(const Array& condition, const Array& x, const Scalar& y);
CX_API Array Where(const Array& condition, const Scalar& x, const Array& y);
CX_API Array Where(const Array& condition, const Scalar& x, const Scalar& y);

}  // namespace chainerx
