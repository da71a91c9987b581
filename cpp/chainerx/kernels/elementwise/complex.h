#pragma once

#define CX_KERNEL_FAMILY complex
#define CX_KERNEL_FAMILY_NUMBER 30
#define CX_KERNEL_DEF "chainerx/kernels/elementwise/complex.def"
#include "chainerx/kernels/declare_family.h"
