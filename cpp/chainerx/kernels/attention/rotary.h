#pragma once

#define CX_KERNEL_FAMILY rotary
#define CX_KERNEL_FAMILY_NUMBER 28
#define CX_KERNEL_DEF "chainerx/kernels/attention/rotary.def"
#include "chainerx/kernels/declare_family.h"
