// Complex numbers and their parts.
//
// The gradient of a complex number a + bi is dL/da - i dL/db, by which that of a function of
// complex numbers is the product with its derivative.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Views of the parts of complex numbers. The real part of other arrays is a view of all, the
// imaginary one an array of zeros.
CX_API Array Real(const Array& x);
CX_API Array Imag(const Array& x);
// A copy, of real arrays too.
CX_API Array Conj(const Array& x);
// Of real floats of one shape and dtype, 32 or 64 bits.
CX_API Array MakeComplex(const Array& real, const Array& imag);

}  // namespace chainerx
