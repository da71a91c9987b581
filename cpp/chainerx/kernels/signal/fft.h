#pragma once

#define CX_KERNEL_FAMILY fft
#define CX_KERNEL_FAMILY_NUMBER 25
#define CX_KERNEL_DEF "chainerx/kernels/signal/fft.def"
#include "chainerx/kernels/declare_family.h"
