#include "chainerx/kernels/trigonometric.h"

#define CX_FAMILY trigonometric
#define CX_FAMILY_DEF "chainerx/ops/trigonometric.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/family.h"
