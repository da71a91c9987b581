#include "chainerx/kernels/arithmetic.h"

#define CX_FAMILY_DEF "chainerx/ops/arithmetic.def"
#define CX_FAMILY_LOOPS arithmetic_loops
#define CX_FAMILY_HEAVY false
#include "chainerx/native/family.h"
