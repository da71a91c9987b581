#define CX_FAMILY numeric
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/numeric.def"
#include "chainerx/native/elementwise/simd/family.h"
