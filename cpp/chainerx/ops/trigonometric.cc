#include "chainerx/kernels/trigonometric.h"

#define CX_FAMILY_DEF "chainerx/ops/trigonometric.def"
#include "chainerx/ops/define_family.h"
