// Exponentials, logarithms, roots.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/explog.def"
#include "chainerx/ops/elementwise/declare_family.h"
