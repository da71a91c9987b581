#include "chainerx/kernels/elementwise/logic.h"

#define CX_FAMILY logic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/logic.def"
#define CX_FAMILY_COST kLight
#define CX_FAMILY_INTEGER
#include "chainerx/native/elementwise/family.h"
