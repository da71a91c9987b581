// What comparisons compute in: a dtype that holds both sides, as NumPy has it, where arithmetic
// would choose one that the result fits. Not for users.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/elementwise.h"

namespace chainerx::internal {

Dtype ComparisonDtype(Dtype dtype1, Dtype dtype2);
// The number is weak among numbers of its kind, and exact against those of a lower kind.
Dtype ComparisonDtype(Dtype dtype, const Scalar& scalar);

// Compares uint64 with a signed dtype: no dtype holds both.
Array CompareWithUInt64(const ElementwiseOp& op, const Array& x1, const Array& x2);

}  // namespace chainerx::internal
