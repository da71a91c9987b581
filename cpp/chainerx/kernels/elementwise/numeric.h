#pragma once

#define CX_KERNEL_FAMILY numeric
#define CX_KERNEL_FAMILY_NUMBER 26
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/numeric.def"
#include "chainerx/kernels/declare_family.h"
