#pragma once

#include "chainerx/kernels/scatter_rule.h"

#define CX_KERNEL_FAMILY indexing
#define CX_KERNEL_FAMILY_NUMBER 2
#define CX_KERNEL_DEF "chainerx/kernels/indexing.def"
#include "chainerx/kernels/declare_family.h"
