#define CX_FAMILY numeric
#define CX_FAMILY_DEF "chainerx/ops/numeric.def"
#include "chainerx/native/isa/family.h"
