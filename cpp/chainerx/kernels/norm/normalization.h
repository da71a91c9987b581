#pragma once

#define CX_KERNEL_FAMILY normalization
#define CX_KERNEL_FAMILY_NUMBER 12
#define CX_KERNEL_DEF "chainerx/kernels/norm/normalization.def"
#include "chainerx/kernels/declare_family.h"
