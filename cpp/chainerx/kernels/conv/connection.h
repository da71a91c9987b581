#pragma once

#include "chainerx/kernels/conv/conv_geometry.h"
#include "chainerx/kernels/conv/conv_layer.h"

#define CX_KERNEL_FAMILY connection
#define CX_KERNEL_FAMILY_NUMBER 10
#define CX_KERNEL_DEF "chainerx/kernels/conv/connection.def"
#include "chainerx/kernels/declare_family.h"
