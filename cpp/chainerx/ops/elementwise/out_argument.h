// Results that are written to an existing array, by the rules of ops/elementwise/compute_into.h,
// and helpers for the other options of NumPy's elementwise functions. Not for users.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/elementwise/compute_into.h"
#include "chainerx/ops/elementwise/elementwise.h"

namespace chainerx::internal {

// Writes any result `y` to `out`. `op` names the routine in errors.
CX_API void StoreInto(const char* op, const Array& y, const Array& out,
                      const Array* where = nullptr);

// x[condition] = value, in place and outside all graphs; both are broadcast to the shape of x, and
// `value` has its dtype.
CX_API void AssignWhere(const Array& x, const Array& condition, const Array& value);

// DtypeError if the operation does not compute in `dtype`.
CX_API void CheckComputesIn(const ElementwiseOp& op, Dtype dtype);

// Converts an operand to `dtype`, which the caller asked for; DtypeError if the operand is of a
// higher category. Differentiable.
CX_API Array OperandAs(const char* op, const char* name, const Array& x, Dtype dtype);
CX_API void CheckOperandAs(const char* op, const char* name, const Scalar& x, Dtype dtype);

// Returns `y` where the mask is true, 0 elsewhere; broadcasts the shapes. Differentiable in y.
CX_API Array OrZero(const char* op, const Array& y, const Array& where);

}  // namespace chainerx::internal
