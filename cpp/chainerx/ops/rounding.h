// Rounding to whole numbers.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/rounding.def"
#include "chainerx/ops/declare_family.h"
