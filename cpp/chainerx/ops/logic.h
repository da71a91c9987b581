// Comparisons and logic; the results are bool.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/logic.def"
#include "chainerx/ops/declare_family.h"
