#pragma once

#define CX_KERNEL_FAMILY special
#define CX_KERNEL_FAMILY_NUMBER 24
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/special.def"
#include "chainerx/kernels/declare_family.h"
