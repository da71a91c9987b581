#pragma once

#include "chainerx/kernels/fuse/fused_chain.h"

#define CX_KERNEL_FAMILY fuse
#define CX_KERNEL_FAMILY_NUMBER 14
#define CX_KERNEL_DEF "chainerx/kernels/fuse/fuse.def"
#include "chainerx/kernels/declare_family.h"
