#define CX_FAMILY hyperbolic
#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/native/isa/family.h"
