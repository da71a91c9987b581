#pragma once

#define CX_KERNEL_FAMILY creation
#define CX_KERNEL_FAMILY_NUMBER 1
#define CX_KERNEL_DEF "chainerx/kernels/shape/creation.def"
#include "chainerx/kernels/declare_family.h"
