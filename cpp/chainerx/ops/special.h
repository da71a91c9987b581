// The functions of chainerx.special: kin of the error function and of the gamma function.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/special.def"
#include "chainerx/ops/declare_family.h"
