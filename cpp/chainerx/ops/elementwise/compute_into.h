// The form of elementwise routines whose result goes into an array that is there already, which the
// headers of the families declare for each row:
//
//     AddInto(y, x1, x2);         // y = x1 + x2
//     AddInto(y, x1, x2, &mask);  // where the mask is true
//
// It is a write in place: neither `out` nor a recorded operand may be part of a graph, and what was
// saved of `out` can't be used in backward any more. The result has the shape of `out`, or
// broadcasts to it, and a dtype of no higher kind. Memory that operands share with `out` is as if
// it had been read before. With `where`, an array of bool, only elements at which it is true are
// written.
#pragma once

#include <span>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

struct ElementwiseOp;  // ops/elementwise/elementwise.h

// As many operands as the row of the operation has, at least one an array.
CX_API void ComputeInto(const ElementwiseOp& op, std::span<const Operand> operands,
                        const Array& out, const Array* where = nullptr);

}  // namespace chainerx::internal
