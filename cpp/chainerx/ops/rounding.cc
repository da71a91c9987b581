#include "chainerx/kernels/rounding.h"
#include "chainerx/ops/rounding.h"

#define CX_FAMILY_DEF "chainerx/ops/rounding.def"
#include "chainerx/ops/define_family.h"
