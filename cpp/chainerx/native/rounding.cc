#include "chainerx/kernels/rounding.h"

#define CX_FAMILY rounding
#define CX_FAMILY_DEF "chainerx/ops/rounding.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/family.h"
