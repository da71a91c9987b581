#pragma once

#define CX_KERNEL_FAMILY hyperbolic
#define CX_KERNEL_FAMILY_NUMBER 19
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/hyperbolic.def"
#include "chainerx/kernels/declare_family.h"
