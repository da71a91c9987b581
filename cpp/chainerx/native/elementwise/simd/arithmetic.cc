#define CX_FAMILY arithmetic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#include "chainerx/native/elementwise/simd/family.h"
