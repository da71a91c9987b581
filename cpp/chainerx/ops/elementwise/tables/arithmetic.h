// Arithmetic.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#include "chainerx/ops/elementwise/declare_family.h"
