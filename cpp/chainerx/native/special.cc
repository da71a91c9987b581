#include "chainerx/kernels/special.h"

#define CX_FAMILY special
#define CX_FAMILY_DEF "chainerx/ops/special.def"
#define CX_FAMILY_COST kSlow
#include "chainerx/native/family.h"
