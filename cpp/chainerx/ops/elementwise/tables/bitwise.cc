#include "chainerx/kernels/elementwise/bitwise.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#include "chainerx/ops/elementwise/define_family.h"
