#include "chainerx/kernels/explog.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/explog.h"

#define CX_FAMILY_DEF "chainerx/ops/explog.def"
#include "chainerx/ops/define_family.h"
