#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/native/isa/family.h"

CX_EXPORT_FAMILY
