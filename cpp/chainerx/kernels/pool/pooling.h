#pragma once

#include "chainerx/kernels/pool/pool_window.h"

#define CX_KERNEL_FAMILY pooling
#define CX_KERNEL_FAMILY_NUMBER 11
#define CX_KERNEL_DEF "chainerx/kernels/pool/pooling.def"
#include "chainerx/kernels/declare_family.h"
