#define CX_FAMILY rounding
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/rounding.def"
#include "chainerx/native/elementwise/simd/family.h"
