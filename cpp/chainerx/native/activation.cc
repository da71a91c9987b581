#include "chainerx/kernels/activation.h"

#define CX_FAMILY activation
#define CX_FAMILY_DEF "chainerx/ops/activation.def"
#define CX_FAMILY_COST kLight
#include "chainerx/native/family.h"
