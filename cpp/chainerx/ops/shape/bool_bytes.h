// Kernels take it for granted that a bool is the byte 0 or 1. Memory of others may hold other
// bytes.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// False if `x` is a bool array with another byte than 0 and 1.
CX_API bool HasPlainBools(const Array& x);
// A copy outside all graphs. Bytes of bool arrays but 0 become 1.
CX_API Array CopyPlain(const Array& x);

}  // namespace chainerx::internal
