#define CX_FAMILY bitwise
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#include "chainerx/native/elementwise/simd/integer.h"
