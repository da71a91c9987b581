// Hyperbolic functions.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/hyperbolic.def"
#include "chainerx/ops/elementwise/declare_family.h"
