// The `out=` form of elementwise routines, which writes the result to an existing array. The
// headers of the families declare it for each row:
//
//     AddInto(y, x1, x2);         // y = x1 + x2
//     AddInto(y, x1, x2, &mask);  // only where the mask is true
//
// It writes in place: neither `out` nor a recorded operand may be part of a graph, and backward can
// no longer use what was saved of `out`. The result must have the shape of `out`, or broadcast to
// it, and a dtype of no higher category. Operands that share memory with `out` are read as if
// before any write. `where` is an array of bool; only elements at which it is true are written.
#pragma once

#include <span>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

struct ElementwiseOp;  // ops/elementwise/elementwise.h

// Takes as many operands as the row of the operation; at least one must be an array.
CX_API void ComputeInto(const ElementwiseOp& op, std::span<const Operand> operands,
                        const Array& out, const Array* where = nullptr);

}  // namespace chainerx::internal
