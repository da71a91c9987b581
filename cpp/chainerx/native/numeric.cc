#include "chainerx/kernels/numeric.h"

#define CX_FAMILY numeric
#define CX_FAMILY_DEF "chainerx/ops/numeric.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/family.h"
