#include "chainerx/kernels/logic.h"
#include "chainerx/ops/logic.h"

#define CX_FAMILY_DEF "chainerx/ops/logic.def"
#include "chainerx/ops/define_family.h"
