// Which instruction set the float kernels of this process use.
#pragma once

#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/norm/row_loops.h"

namespace chainerx::native {

// The best one that is built and that this processor has; $CHAINERX_ISA names another. Chosen once,
// while the library loads.
const char* IsaName();

// Throws ChainerxError if $CHAINERX_ISA named one that is not built or that this processor lacks.
void CheckIsa();

// The loops of a unit in the chosen instruction set; those of the families:
// native/elementwise/family.h.
const CastLoops& cast_loops();
const RowLoops& rows_loops();

}  // namespace chainerx::native
