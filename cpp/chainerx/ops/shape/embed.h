// The gradients of views: a part of an array, and an array that is 0 but for a part.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Where the elements of a view lie in a C-contiguous array of `shape`, in bytes.
struct Placement {
    Shape shape;
    Strides strides;
    int64_t offset;
};

// Zeros of placement.shape, but for the elements of the view, which are those of `x`. No two
// elements of the view may be one of the array. Differentiable.
CX_API Array Embed(const Array& x, const Placement& placement);
// The inverse: the view, of `shape`, of an array of placement.shape. Differentiable.
CX_API Array Extract(const Array& x, const Placement& placement, const Shape& shape);

}  // namespace chainerx::internal
