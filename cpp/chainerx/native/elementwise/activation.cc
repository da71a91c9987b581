#include "chainerx/kernels/elementwise/activation.h"

#define CX_FAMILY activation
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/activation.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/elementwise/family.h"
