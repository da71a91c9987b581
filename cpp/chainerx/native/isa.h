// Which instruction set the float kernels of this process use.
#pragma once

#include "chainerx/native/loops.h"
#include "chainerx/native/row_loops.h"

namespace chainerx::native {

// The best one that is built and that this processor has; $CHAINERX_ISA names another. Chosen once,
// while the library loads.
const char* IsaName();

// Throws ChainerxError if $CHAINERX_ISA named one that is not built or that this processor lacks.
void CheckIsa();

// The loops of a family in the chosen instruction set.
#define CX_FAMILIES(X) \
    X(arithmetic)      \
    X(explog)          \
    X(trigonometric)   \
    X(hyperbolic)      \
    X(rounding)        \
    X(activation)      \
    X(logic)

#define CX_DECLARE(family) const FamilyLoops& family##_loops();
CX_FAMILIES(CX_DECLARE)
#undef CX_DECLARE
const CastLoops& cast_loops();
const RowLoops& rows_loops();

}  // namespace chainerx::native
