#include "chainerx/kernels/activation.h"
#include "chainerx/ops/activation.h"

#define CX_FAMILY_DEF "chainerx/ops/activation.def"
#include "chainerx/ops/define_family.h"
