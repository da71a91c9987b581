#pragma once

#define CX_KERNEL_FAMILY rounding
#define CX_KERNEL_FAMILY_NUMBER 20
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/rounding.def"
#include "chainerx/kernels/declare_family.h"
