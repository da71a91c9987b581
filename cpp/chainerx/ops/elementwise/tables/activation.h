// Activations of neural networks.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/elementwise/tables/activation.def"
#include "chainerx/ops/elementwise/declare_family.h"
