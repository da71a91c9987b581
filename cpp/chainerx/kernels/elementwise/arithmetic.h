#pragma once

#define CX_KERNEL_FAMILY arithmetic
#define CX_KERNEL_FAMILY_NUMBER 16
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#include "chainerx/kernels/declare_family.h"
