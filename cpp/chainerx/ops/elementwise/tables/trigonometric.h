// Circular functions.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/trigonometric.def"
#include "chainerx/ops/elementwise/declare_family.h"
