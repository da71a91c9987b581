// The gradients of views: extracting a part, and embedding it in zeros.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// The layout of a view within a C-contiguous array of `shape`, in bytes.
struct Placement {
    Shape shape;
    Strides strides;
    int64_t offset;
};

// Returns zeros of placement.shape, with the elements of `x` at those of the view. Elements of the
// view must not overlap. Differentiable.
CX_API Array Embed(const Array& x, const Placement& placement);
// The inverse: returns the view, of `shape`, of an array of placement.shape. Differentiable.
CX_API Array Extract(const Array& x, const Placement& placement, const Shape& shape);

}  // namespace chainerx::internal
