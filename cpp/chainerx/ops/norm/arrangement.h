// Arrays in another order of axes, some of which are seen as one: what kernels of normalizations
// get.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

struct Arrangement {
    Axes order;     // of the axes; empty for the order that they have
    Shape ordered;  // the shape in that order
    Shape shape;    // what is seen

    // Of an array of the shape that it was made for, and back. A view, where the memory allows it.
    // Differentiable.
    Array View(const Array& x) const;
    Array Undo(const Array& y) const;

    // Contiguous, outside all graphs.
    Array Contiguous(const Array& x) const;
};

// As (n, c, s), where c runs over the channels, and n and s over the axes `reduced`, which are
// sorted. A view of arrays without gaps, also of transposed ones, if their channels lie together.
Arrangement ByChannel(const Array& x, const Axes& reduced);

// As (n, 1, k, 1), where k runs over the axes `reduced`.
Arrangement ByRow(const Array& x, const Axes& reduced);

// x (n, channels, ...) as (n, groups, channels / groups, s).
Arrangement ByGroup(const Array& x, int64_t groups);

}  // namespace chainerx::internal
