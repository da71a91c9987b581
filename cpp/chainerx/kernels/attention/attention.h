#pragma once

#include "chainerx/kernels/attention/attention_options.h"

#define CX_KERNEL_FAMILY attention
#define CX_KERNEL_FAMILY_NUMBER 29
#define CX_KERNEL_DEF "chainerx/kernels/attention/attention.def"
#include "chainerx/kernels/declare_family.h"
