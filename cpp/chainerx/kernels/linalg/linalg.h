#pragma once

#define CX_KERNEL_FAMILY linalg
#define CX_KERNEL_FAMILY_NUMBER 3
#define CX_KERNEL_DEF "chainerx/kernels/linalg/linalg.def"
#include "chainerx/kernels/declare_family.h"
