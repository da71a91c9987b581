// Included before the table's rows, the only users.
#include "chainerx/native/math/simd/math_bessel.h"
#include "chainerx/native/math/simd/math_entropy.h"
#include "chainerx/native/math/simd/math_gamma.h"
#include "chainerx/native/math/simd/math_incomplete.h"
#include "chainerx/native/math/simd/math_normal.h"

#define CX_FAMILY special
#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/special.def"
#include "chainerx/native/elementwise/simd/family.h"
