#pragma once

#define CX_KERNEL_FAMILY sorting
#define CX_KERNEL_FAMILY_NUMBER 31
#define CX_KERNEL_DEF "chainerx/kernels/sort/sorting.def"
#include "chainerx/kernels/declare_family.h"
