#include "chainerx/kernels/elementwise/explog.h"

#define CX_FAMILY explog
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/explog.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/elementwise/family.h"
