// The dtypes in which comparisons compute. Like NumPy's they represent both operands, whereas
// arithmetic chooses a dtype for its result. Not for users.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/elementwise.h"

namespace chainerx::internal {

Dtype ComparisonDtype(Dtype dtype1, Dtype dtype2);
// The scalar is weak within its category, and exact against dtypes of a lower category.
Dtype ComparisonDtype(Dtype dtype, const Scalar& scalar);

// Compares uint64 with a signed dtype: no dtype holds both.
Array CompareWithUInt64(const ElementwiseOp& op, const Array& x1, const Array& x2);

}  // namespace chainerx::internal
