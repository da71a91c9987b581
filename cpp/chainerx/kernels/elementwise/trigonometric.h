#pragma once

#define CX_KERNEL_FAMILY trigonometric
#define CX_KERNEL_FAMILY_NUMBER 18
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/trigonometric.def"
#include "chainerx/kernels/declare_family.h"
