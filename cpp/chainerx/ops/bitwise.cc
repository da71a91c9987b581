#include "chainerx/kernels/bitwise.h"

#define CX_FAMILY_DEF "chainerx/ops/bitwise.def"
#include "chainerx/ops/define_family.h"
