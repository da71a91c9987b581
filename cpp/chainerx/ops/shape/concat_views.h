// Zero-copy concatenation: gradients of adjacent parts of an array are written to adjacent memory,
// so that joining them takes no copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"

namespace chainerx::internal {

// Returns an uninitialized array with contiguous rows in the memory layout of x.
Array EmptyRowsLike(const Array& x);

// Returns one such array for each of xs. If consecutive xs are adjacent parts of one array, the new
// ones are, too.
std::vector<Array> EmptyPartsLike(std::span<const Array> xs);

// Joins the gradients of all outputs along an axis; differentiable. Returns their own memory if
// they are adjacent and nobody else refers to it.
Array JoinOutputGrads(GradContext& context, int8_t axis);

}  // namespace chainerx::internal
