// Results that go into an array that is there already, by the rules of
// ops/elementwise/compute_into.h, and what else the options of NumPy's elementwise functions need.
// Not for users.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise/compute_into.h"
#include "chainerx/ops/elementwise/elementwise.h"

namespace chainerx::internal {

// Any result `y`. `op` is for the errors.
CX_API void StoreInto(const char* op, const Array& y, const Array& out,
                      const Array* where = nullptr);

// x[condition] = value, in place and outside all graphs; both are broadcast to the shape of x, and
// `value` has its dtype.
CX_API void AssignWhere(const Array& x, const Array& condition, const Array& value);

// DtypeError if the operation does not compute in `dtype`.
CX_API void CheckComputesIn(const ElementwiseOp& op, Dtype dtype);

// An operand of an operation that is asked to compute in `dtype`: DtypeError if it is of a higher
// kind. Differentiable.
CX_API Array OperandAs(const char* op, const char* name, const Array& x, Dtype dtype);
CX_API void CheckOperandAs(const char* op, const char* name, const Scalar& x, Dtype dtype);

// `y` where the mask is true, 0 elsewhere; the shapes are broadcast. Differentiable in y.
CX_API Array OrZero(const char* op, const Array& y, const Array& where);

}  // namespace chainerx::internal
