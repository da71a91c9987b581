#include "chainerx/kernels/hyperbolic.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/trigonometric.h"

#define CX_FAMILY_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/ops/define_family.h"
