#pragma once

#include "chainerx/kernels/rnn/recurrent_cell.h"

#define CX_KERNEL_FAMILY recurrent
#define CX_KERNEL_FAMILY_NUMBER 13
#define CX_KERNEL_DEF "chainerx/kernels/rnn/recurrent.def"
#include "chainerx/kernels/declare_family.h"
