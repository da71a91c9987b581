// The instruction set of this process's float kernels.
#pragma once

#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/norm/row_loops.h"

namespace chainerx::native {

// The best one that is built and that this processor has; $CHAINERX_ISA overrides it. Chosen once,
// while the library loads.
const char* IsaName();

// Throws ChainerxError if $CHAINERX_ISA names one that is not built or that this processor lacks.
void CheckIsa();

// The loops of a unit in the chosen instruction set; native/elementwise/family.h declares those of
// the families.
const CastLoops& cast_loops();
const RowLoops& rows_loops();

}  // namespace chainerx::native
