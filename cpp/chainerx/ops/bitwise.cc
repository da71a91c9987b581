#include "chainerx/kernels/bitwise.h"
#include "chainerx/ops/bitwise.h"

#define CX_FAMILY_DEF "chainerx/ops/bitwise.def"
#include "chainerx/ops/define_family.h"
