#pragma once

#define CX_KERNEL_FAMILY manipulation
#define CX_KERNEL_FAMILY_NUMBER 4
#define CX_KERNEL_DEF "chainerx/kernels/shape/manipulation.def"
#include "chainerx/kernels/declare_family.h"
