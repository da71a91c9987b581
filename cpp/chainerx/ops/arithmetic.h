// Arithmetic.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/arithmetic.def"
#include "chainerx/ops/declare_family.h"
