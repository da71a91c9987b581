// Rounding to integers.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/rounding.def"
#include "chainerx/ops/elementwise/declare_family.h"
