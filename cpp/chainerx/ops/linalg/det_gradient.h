// The gradient of the determinant. Not for users.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

// Returns the matrices of cofactors of square matrices a (..., n, n). Singular matrices have
// cofactors, too, and their derivatives; further derivatives are a LinAlgError there.
Array Cofactors(const Array& a);

}  // namespace chainerx::internal
