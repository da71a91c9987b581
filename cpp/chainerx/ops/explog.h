// Exponentials, logarithms, roots.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/explog.def"
#include "chainerx/ops/declare_family.h"
