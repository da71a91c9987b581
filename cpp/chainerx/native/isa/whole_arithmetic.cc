#define CX_FAMILY arithmetic
#define CX_FAMILY_DEF "chainerx/ops/arithmetic.def"
#include "chainerx/native/isa/whole.h"
