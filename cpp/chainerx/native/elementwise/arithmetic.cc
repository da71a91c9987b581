#include "chainerx/kernels/elementwise/arithmetic.h"

#define CX_FAMILY arithmetic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#define CX_FAMILY_COST kLight
#define CX_FAMILY_INTEGER
#include "chainerx/native/elementwise/family.h"
