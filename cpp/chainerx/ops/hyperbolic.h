// Hyperbolic functions.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/hyperbolic.def"
#include "chainerx/ops/declare_family.h"
