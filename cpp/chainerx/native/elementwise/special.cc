#include "chainerx/kernels/elementwise/special.h"

#define CX_FAMILY special
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/special.def"
#define CX_FAMILY_COST kSlow
#include "chainerx/native/elementwise/family.h"
