// The gradient of the determinant. Not for users.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

// The cofactors of square matrices a (..., n, n), each at the place of its element. Singular
// matrices have them, too, and the derivatives of theirs; further ones are a LinAlgError there.
Array Cofactors(const Array& a);

}  // namespace chainerx::internal
