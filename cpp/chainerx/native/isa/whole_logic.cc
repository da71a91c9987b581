#define CX_FAMILY logic
#define CX_FAMILY_DEF "chainerx/ops/logic.def"
#include "chainerx/native/isa/whole.h"
