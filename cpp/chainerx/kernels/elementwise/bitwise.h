#pragma once

#define CX_KERNEL_FAMILY bitwise
#define CX_KERNEL_FAMILY_NUMBER 23
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/bitwise.def"
#include "chainerx/kernels/declare_family.h"
