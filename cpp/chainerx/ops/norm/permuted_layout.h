// A permuted layout: an array with its axes in another order, some of them merged, as kernels of
// normalizations take it.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

struct Arrangement {
    Axes order;     // permutation of the axes; empty for the identity
    Shape ordered;  // the shape in that order
    Shape shape;    // the shape of the view

    // Applies the layout to an array of the shape that it was made for, and undoes it. Returns a
    // view where the memory allows it. Differentiable.
    Array View(const Array& x) const;
    Array Undo(const Array& y) const;

    // Returns a contiguous array, outside all graphs.
    Array Contiguous(const Array& x) const;
};

// Views x as (n, c, s), where c runs over the channels, and n and s over the axes `reduced`, which
// are sorted. It is a view for arrays without gaps, also transposed ones, if their channels are
// adjacent.
Arrangement ByChannel(const Array& x, const Axes& reduced);

// Views x as (n, 1, k, 1), where k runs over the axes `reduced`.
Arrangement ByRow(const Array& x, const Axes& reduced);

// Views x (n, channels, ...) as (n, groups, channels / groups, s).
Arrangement ByGroup(const Array& x, int64_t groups);

}  // namespace chainerx::internal
