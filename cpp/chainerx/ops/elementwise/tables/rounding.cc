#include "chainerx/kernels/elementwise/rounding.h"
#include "chainerx/ops/elementwise/tables/rounding.h"

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/rounding.def"
#include "chainerx/ops/elementwise/define_family.h"
