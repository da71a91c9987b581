#include "chainerx/kernels/explog.h"

#define CX_FAMILY_DEF "chainerx/ops/explog.def"
#include "chainerx/ops/define_family.h"
