// The namespace math of the elementwise tables, for batches of one instruction set. Its twin for
// single numbers is native/scalar_math.h.
#pragma once

#include "chainerx/native/isa/math_basic.h"
#include "chainerx/native/isa/math_explog.h"
#include "chainerx/native/isa/math_gated.h"
#include "chainerx/native/isa/math_gelu.h"
#include "chainerx/native/isa/math_hyperbolic.h"
#include "chainerx/native/isa/math_power.h"
#include "chainerx/native/isa/math_trigonometric.h"
