#include "chainerx/kernels/elementwise/numeric.h"

#define CX_FAMILY numeric
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/numeric.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/elementwise/family.h"
