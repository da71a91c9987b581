// Numbers: extremes that nan is not one of, steps, rounding to decimals.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/numeric.def"
#include "chainerx/ops/declare_family.h"
