#pragma once

#include "chainerx/kernels/index/scatter_rule.h"

#define CX_KERNEL_FAMILY indexing
#define CX_KERNEL_FAMILY_NUMBER 2
#define CX_KERNEL_DEF "chainerx/kernels/index/indexing.def"
#include "chainerx/kernels/declare_family.h"
