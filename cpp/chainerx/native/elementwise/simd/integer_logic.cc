#define CX_FAMILY logic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/logic.def"
#include "chainerx/native/elementwise/simd/integer.h"
