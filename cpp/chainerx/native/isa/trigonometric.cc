#define CX_FAMILY trigonometric
#define CX_FAMILY_DEF "chainerx/ops/trigonometric.def"
#include "chainerx/native/isa/family.h"
