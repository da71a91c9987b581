#include "chainerx/kernels/elementwise/explog.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/explog.def"
#include "chainerx/ops/elementwise/define_family.h"
