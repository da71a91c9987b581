#define CX_FAMILY activation
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/activation.def"
#include "chainerx/native/elementwise/simd/family.h"
