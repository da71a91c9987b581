#define CX_FAMILY bitwise
#define CX_FAMILY_DEF "chainerx/ops/bitwise.def"
#include "chainerx/native/isa/whole.h"
