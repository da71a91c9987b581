#pragma once

#define CX_KERNEL_FAMILY explog
#define CX_KERNEL_FAMILY_NUMBER 17
#define CX_KERNEL_DEF "chainerx/ops/elementwise/tables/explog.def"
#include "chainerx/kernels/declare_family.h"
