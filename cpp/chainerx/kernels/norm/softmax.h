#pragma once

#define CX_KERNEL_FAMILY softmax
#define CX_KERNEL_FAMILY_NUMBER 7
#define CX_KERNEL_DEF "chainerx/kernels/norm/softmax.def"
#include "chainerx/kernels/declare_family.h"
