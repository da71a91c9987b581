#include "chainerx/kernels/elementwise/trigonometric.h"

#define CX_FAMILY trigonometric
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/trigonometric.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/elementwise/family.h"
