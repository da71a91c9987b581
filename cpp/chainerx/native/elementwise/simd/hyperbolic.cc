#define CX_FAMILY hyperbolic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/hyperbolic.def"
#include "chainerx/native/elementwise/simd/family.h"
