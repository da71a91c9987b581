#define CX_FAMILY arithmetic
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#define CX_INTEGER_COMPLEX
#include "chainerx/native/elementwise/simd/integer.h"
