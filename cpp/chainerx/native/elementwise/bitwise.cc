#include "chainerx/kernels/elementwise/bitwise.h"

#define CX_FAMILY bitwise
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#define CX_FAMILY_COST kLight
#define CX_FAMILY_INTEGER
#define CX_FAMILY_NO_FLOATS
#include "chainerx/native/elementwise/family.h"
