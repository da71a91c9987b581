// Circular functions.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/trigonometric.def"
#include "chainerx/ops/declare_family.h"
