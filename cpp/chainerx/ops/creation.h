// Arrays made from nothing, and copies.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

CX_API Array Full(const Shape& shape, const Scalar& value, Dtype dtype,
                  Device& device = GetDefaultDevice());
CX_API Array Full(const Shape& shape, const Scalar& value, Device& device = GetDefaultDevice());
CX_API Array Zeros(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());
CX_API Array Ones(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());
CX_API Array EmptyLike(const Array& a, Device& device);
CX_API Array FullLike(const Array& a, const Scalar& value, Device& device);
CX_API Array ZerosLike(const Array& a, Device& device);
CX_API Array OnesLike(const Array& a, Device& device);

// C-contiguous, differentiable.
CX_API Array Copy(const Array& x);
// Differentiable if both dtypes are. Without `copy`, the same array if nothing changes.
CX_API Array AsType(const Array& x, Dtype dtype, bool copy = true);
// The same array if it is contiguous already (and not 0-d).
CX_API Array AsContiguous(const Array& x);

}  // namespace chainerx
