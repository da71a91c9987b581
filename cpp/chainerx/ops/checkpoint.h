// Memory for time: what a function computes on the way is computed again in backward.
#pragma once

#include <vector>

#include "chainerx/autograd/functional.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// f(inputs), recorded as one operation that keeps the inputs alone. Backward calls `f` again, with
// the random numbers that it drew before, from any generator: it draws from none of them again, so
// that other threads may go on to draw from the same ones. Differentiable, any order, in the
// inputs and in arrays in graphs that `f` uses besides. GradientError in backward if the other call
// gives results of another number, shape or dtype, or uses other such arrays.
CX_API std::vector<Array> Checkpoint(const ArrayFunction& f, const std::vector<Array>& inputs);

namespace internal {

struct Node;

// For layers above, which know what a function refers to. Whether a checkpoint made the node; and
// the function that it keeps for backward, or null, for a caller who is inside of it (NodeVisit).
CX_API bool IsCheckpoint(const Node& node);
CX_API const ArrayFunction* CheckpointFunctionOf(const Node& node);

}  // namespace internal

}  // namespace chainerx
