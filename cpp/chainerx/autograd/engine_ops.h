// The few array operations that the engine itself needs, all differentiable; defined in
// ops/engine_ops.cc, since autograd does not include ops.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal::engine_ops {

CX_API Array Add(const Array& x1, const Array& x2);
// x1 += x2, both outside any graph, with one shape and dtype; nobody else sees x1.
void AddInPlace(const Array& x1, const Array& x2);
CX_API Array Multiply(const Array& x, double factor);
// Undoes broadcasting.
CX_API Array SumTo(const Array& x, const Shape& shape);
CX_API Array AsType(const Array& x, Dtype dtype);
CX_API Array Full(const Shape& shape, double value, Dtype dtype, Device& device);
CX_API Array Copy(const Array& x);

}  // namespace chainerx::internal::engine_ops
