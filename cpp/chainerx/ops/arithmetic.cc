#include "chainerx/kernels/arithmetic.h"

#define CX_FAMILY_DEF "chainerx/ops/arithmetic.def"
#include "chainerx/ops/define_family.h"
