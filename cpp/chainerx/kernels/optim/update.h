#pragma once

#include "chainerx/kernels/optim/update_rule.h"

#define CX_KERNEL_FAMILY update
#define CX_KERNEL_FAMILY_NUMBER 8
#define CX_KERNEL_DEF "chainerx/kernels/optim/update.def"
#include "chainerx/kernels/declare_family.h"
