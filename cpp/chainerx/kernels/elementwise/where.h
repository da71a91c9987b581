#pragma once

#define CX_KERNEL_FAMILY where
#define CX_KERNEL_FAMILY_NUMBER 9
#define CX_KERNEL_DEF "chainerx/kernels/elementwise/where.def"
#include "chainerx/kernels/declare_family.h"
