// Before the table's rows, which alone use them.
#include "chainerx/native/isa/math_bessel.h"
#include "chainerx/native/isa/math_gamma.h"
#include "chainerx/native/isa/math_incomplete.h"
#include "chainerx/native/isa/math_normal.h"

#define CX_FAMILY special
#define CX_FAMILY_DEF "chainerx/ops/special.def"
#include "chainerx/native/isa/family.h"
