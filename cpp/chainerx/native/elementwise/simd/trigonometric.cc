#define CX_FAMILY trigonometric
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/trigonometric.def"
#include "chainerx/native/elementwise/simd/family.h"
