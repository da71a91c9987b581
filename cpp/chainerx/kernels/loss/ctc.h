#pragma once

#define CX_KERNEL_FAMILY ctc
#define CX_KERNEL_FAMILY_NUMBER 27
#define CX_KERNEL_DEF "chainerx/kernels/loss/ctc.def"
#include "chainerx/kernels/declare_family.h"
