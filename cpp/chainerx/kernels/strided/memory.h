#pragma once

#define CX_KERNEL_FAMILY memory
#define CX_KERNEL_FAMILY_NUMBER 0
#define CX_KERNEL_DEF "chainerx/kernels/strided/memory.def"
#include "chainerx/kernels/declare_family.h"
