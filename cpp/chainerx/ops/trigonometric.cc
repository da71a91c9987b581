#include "chainerx/kernels/trigonometric.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/trigonometric.h"

#define CX_FAMILY_DEF "chainerx/ops/trigonometric.def"
#include "chainerx/ops/define_family.h"
