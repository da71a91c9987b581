#include "chainerx/kernels/explog.h"

#define CX_FAMILY_DEF "chainerx/ops/explog.def"
#define CX_FAMILY_LOOPS explog_loops
#define CX_FAMILY_HEAVY true
#include "chainerx/native/family.h"
