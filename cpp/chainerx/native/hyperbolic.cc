#include "chainerx/kernels/hyperbolic.h"

#define CX_FAMILY hyperbolic
#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/family.h"
