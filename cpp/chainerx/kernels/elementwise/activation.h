#pragma once

#define CX_KERNEL_FAMILY activation
#define CX_KERNEL_FAMILY_NUMBER 21
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/activation.def"
#include "chainerx/kernels/declare_family.h"
