// Bits of integers.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/bitwise.def"
#include "chainerx/ops/declare_family.h"
