#pragma once

#include "chainerx/kernels/random/domain.h"

#define CX_KERNEL_FAMILY random
#define CX_KERNEL_FAMILY_NUMBER 5
#define CX_KERNEL_DEF "chainerx/kernels/random/random.def"
#include "chainerx/kernels/declare_family.h"
