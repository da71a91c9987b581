// Kernels assume that a bool is the byte 0 or 1. Memory of other libraries may hold other bytes.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Returns false if `x` is a bool array with a byte other than 0 and 1.
CX_API bool HasPlainBools(const Array& x);
// Returns a copy outside all graphs, with nonzero bytes of bool arrays converted to 1.
CX_API Array CopyPlain(const Array& x);

}  // namespace chainerx::internal
