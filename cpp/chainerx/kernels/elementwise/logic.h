#pragma once

#define CX_KERNEL_FAMILY logic
#define CX_KERNEL_FAMILY_NUMBER 22
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/logic.def"
#include "chainerx/kernels/declare_family.h"
