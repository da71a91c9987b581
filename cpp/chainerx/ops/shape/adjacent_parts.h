// Parts of an array that lie in memory beside each other. Gradients of such parts are written
// beside each other as well, so that to join them again takes no copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"

namespace chainerx::internal {

// Uninitialized, with rows of adjacent elements that lie in memory as those of x do.
Array EmptyRowsLike(const Array& x);

// One such array for each of xs. Where several of these, one after another, are parts of one array,
// the new ones are, too.
std::vector<Array> EmptyPartsLike(std::span<const Array> xs);

// The gradients of all outputs, joined along an axis; differentiable. Memory that is theirs is
// passed on if nobody else knows of it.
Array JoinOutputGrads(GradContext& context, int8_t axis);

}  // namespace chainerx::internal
