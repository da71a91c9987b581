// Activations of neural networks.
#pragma once

#define CX_DECLARED_DEF "chainerx/ops/activation.def"
#include "chainerx/ops/declare_family.h"
