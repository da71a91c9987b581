#include "chainerx/kernels/explog.h"

#define CX_FAMILY explog
#define CX_FAMILY_DEF "chainerx/ops/explog.def"
#define CX_FAMILY_COST kHeavy
#include "chainerx/native/family.h"
