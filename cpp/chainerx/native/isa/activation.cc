#define CX_FAMILY activation
#define CX_FAMILY_DEF "chainerx/ops/activation.def"
#include "chainerx/native/isa/family.h"
