// Arithmetic.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

CX_API Array Add(const Array& x1, const Array& x2);
CX_API Array Add(const Array& x1, const Scalar& x2);
CX_API Array Multiply(const Array& x1, const Array& x2);
CX_API Array Multiply(const Array& x1, const Scalar& x2);

namespace internal {
CX_API void IAdd(const Array& x1, const Array& x2);
}

}  // namespace chainerx
