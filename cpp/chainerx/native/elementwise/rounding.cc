#include "chainerx/kernels/elementwise/rounding.h"

#define CX_FAMILY rounding
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/rounding.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/elementwise/family.h"
