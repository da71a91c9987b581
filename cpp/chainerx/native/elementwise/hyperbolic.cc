#include "chainerx/kernels/elementwise/hyperbolic.h"

#define CX_FAMILY hyperbolic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/hyperbolic.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/elementwise/family.h"
