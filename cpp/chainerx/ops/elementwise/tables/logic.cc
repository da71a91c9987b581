#include "chainerx/kernels/elementwise/logic.h"
#include "chainerx/ops/elementwise/tables/logic.h"

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/logic.def"
#include "chainerx/ops/elementwise/define_family.h"
