// Every family. For the table (table.cc) alone: whoever else includes this is rebuilt for each new
// kernel.
#pragma once

#include "chainerx/kernels/activation.h"
#include "chainerx/kernels/arithmetic.h"
#include "chainerx/kernels/bitwise.h"
#include "chainerx/kernels/connection.h"
#include "chainerx/kernels/creation.h"
#include "chainerx/kernels/explog.h"
#include "chainerx/kernels/hyperbolic.h"
#include "chainerx/kernels/indexing.h"
#include "chainerx/kernels/linalg.h"
#include "chainerx/kernels/logic.h"
#include "chainerx/kernels/manipulation.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/kernels/normalization.h"
#include "chainerx/kernels/random.h"
#include "chainerx/kernels/reduction.h"
#include "chainerx/kernels/rounding.h"
#include "chainerx/kernels/softmax.h"
#include "chainerx/kernels/trigonometric.h"
#include "chainerx/kernels/update.h"
#include "chainerx/kernels/where.h"
