// Bitwise operations of integers.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#include "chainerx/ops/elementwise/declare_family.h"
