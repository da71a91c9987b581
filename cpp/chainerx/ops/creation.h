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

// n values from `start` on. Integers are exact; anything else is computed in double.
CX_API Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step, Dtype dtype,
                    Device& device = GetDefaultDevice());
CX_API Array Linspace(double start, double stop, int64_t num, bool endpoint, Dtype dtype,
                      Device& device = GetDefaultDevice());
// Ones on diagonal k, zeros elsewhere.
CX_API Array Eye(int64_t rows, int64_t columns, int64_t k, Dtype dtype,
                 Device& device = GetDefaultDevice(), const char* op = "eye");
CX_API Array Identity(int64_t n, Dtype dtype, Device& device = GetDefaultDevice());
// Ones on and below diagonal k.
CX_API Array Tri(int64_t rows, int64_t columns, int64_t k, Dtype dtype,
                 Device& device = GetDefaultDevice());

// C-contiguous, differentiable.
CX_API Array Copy(const Array& x);
// Differentiable if both dtypes are. Without `copy`, the same array if nothing changes.
CX_API Array AsType(const Array& x, Dtype dtype, bool copy = true);
// The same array if it is contiguous already.
CX_API Array AsContiguous(const Array& x);

}  // namespace chainerx
