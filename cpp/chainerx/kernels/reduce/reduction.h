#pragma once

#define CX_KERNEL_FAMILY reduction
#define CX_KERNEL_FAMILY_NUMBER 6
#define CX_KERNEL_DEF "chainerx/kernels/reduce/reduction.def"
#include "chainerx/kernels/declare_family.h"
