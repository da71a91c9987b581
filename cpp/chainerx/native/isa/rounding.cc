#define CX_FAMILY rounding
#define CX_FAMILY_DEF "chainerx/ops/rounding.def"
#include "chainerx/native/isa/family.h"
