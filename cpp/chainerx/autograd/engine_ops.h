// The few array operations that the engine itself needs, all differentiable; defined in
// ops/engine_ops.cc, since autograd does not include ops.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal::engine_ops {

Array Add(const Array& x1, const Array& x2);
// x1 += x2, both outside any graph and of one shape and dtype; x1 is seen by nobody else.
void AddInPlace(const Array& x1, const Array& x2);
Array Multiply(const Array& x, double factor);
// Undoes broadcasting.
Array SumTo(const Array& x, const Shape& shape);
Array AsType(const Array& x, Dtype dtype);
Array Full(const Shape& shape, double value, Dtype dtype, Device& device);
Array Copy(const Array& x);

}  // namespace chainerx::internal::engine_ops
