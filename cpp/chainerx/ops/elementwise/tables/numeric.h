// Numerical functions: extremes that ignore NaN, step functions, rounding to decimals.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/numeric.def"
#include "chainerx/ops/elementwise/declare_family.h"
