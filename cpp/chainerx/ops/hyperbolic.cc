#include "chainerx/kernels/hyperbolic.h"

#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/ops/define_family.h"
