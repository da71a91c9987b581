// Complex numbers and their parts.
//
// The gradient of a complex number a + bi is dL/da - i dL/db. With this convention the gradient of
// a holomorphic function is the product with its derivative.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Views of the parts of complex numbers. The real part of a real array is a view of it, its
// imaginary part an array of zeros.
CX_API Array Real(const Array& x);
CX_API Array Imag(const Array& x);
// Returns a copy, for real arrays too.
CX_API Array Conj(const Array& x);
// Takes real floats of one shape and dtype, of 32 or 64 bits.
CX_API Array MakeComplex(const Array& real, const Array& imag);

}  // namespace chainerx
