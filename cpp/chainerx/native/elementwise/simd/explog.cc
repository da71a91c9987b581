#define CX_FAMILY explog
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/explog.def"
#include "chainerx/native/elementwise/simd/family.h"
