#define CX_FAMILY arithmetic
#define CX_FAMILY_DEF "chainerx/ops/arithmetic.def"
#define CX_WHOLE_COMPLEX
#include "chainerx/native/isa/whole.h"
