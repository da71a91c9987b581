// Checkpointing trades time for memory: backward recomputes the intermediate results of a function.
#pragma once

#include <vector>

#include "chainerx/autograd/functional.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Records f(inputs) as one operation that saves only the inputs. Backward calls `f` again and
// replays the random numbers that it drew, from any generator, without drawing again; so other
// threads may go on to draw from the same generators. Differentiable, any order, in the inputs and
// in other arrays in graphs that `f` uses. GradientError in backward if the second call returns a
// different number of results, other shapes or dtypes, or uses other such arrays.
CX_API std::vector<Array> Checkpoint(const ArrayFunction& f, const std::vector<Array>& inputs);

namespace internal {

struct Node;

// For layers above, which know the objects that a function refers to. IsCheckpoint: whether a
// checkpoint made the node. The second returns the function that the node keeps for backward, or
// null, for a caller inside of it (NodeVisit).
CX_API bool IsCheckpoint(const Node& node);
CX_API const ArrayFunction* CheckpointFunctionOf(const Node& node);

}  // namespace internal

}  // namespace chainerx
