// The namespace math of the elementwise tables, for batches of one instruction set.
// native/elementwise/scalar_math.h is its counterpart for scalars.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_gated.h"
#include "chainerx/native/math/simd/math_gelu.h"
#include "chainerx/native/math/simd/math_hyperbolic.h"
#include "chainerx/native/math/simd/math_power.h"
#include "chainerx/native/math/simd/math_trigonometric.h"
