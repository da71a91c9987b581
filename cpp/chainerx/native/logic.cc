#include "chainerx/kernels/logic.h"

#define CX_FAMILY logic
#define CX_FAMILY_DEF "chainerx/ops/logic.def"
#define CX_FAMILY_HEAVY false
#include "chainerx/native/family.h"
