// Comparisons and logic; the results are bool.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/logic.def"
#include "chainerx/ops/elementwise/declare_family.h"
