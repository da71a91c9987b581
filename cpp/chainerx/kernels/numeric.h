#pragma once

#define CX_KERNEL_FAMILY numeric
#define CX_KERNEL_FAMILY_NUMBER 26
#define CX_KERNEL_DEF "chainerx/ops/numeric.def"
#include "chainerx/kernels/declare_family.h"
