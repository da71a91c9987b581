// What the source of a routine includes: errors, how results are recorded, and the array operations
// in which compositions and gradients are written.
#pragma once

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
