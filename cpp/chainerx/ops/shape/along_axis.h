// What routines that work along an axis share: parts of it, joining them, rows for kernels, and
// gathering by places on that axis. Not for users.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// Whether x is a number, which NumPy's functions along an axis take for a vector of one element
// where that is 0 or -1.
inline bool IsNumberAlong(const Array& x, int8_t axis) {
    return x.ndim() == 0 && (axis == 0 || axis == -1);
}

// The part [begin, end) of an axis, up to its end for nullopt: a view, in the graph of x.
Array PartAlong(const Array& x, int8_t axis, int64_t begin,
                std::optional<int64_t> end = std::nullopt);

// With axes of length 1 in front, so that there are `ndim` at least.
Array WithLeadingAxes(const Array& x, int64_t ndim);

// One after the other, in their graphs.
Array Join(const std::vector<Array>& parts, int8_t axis, const char* op);

// The lines of `x` along `axis` as rows of a contiguous array of two axes, outside all graphs. x is
// not empty.
Array ToRows(const Array& x, int8_t axis);
// The inverse, in C order: `shape` is that of the result.
Array FromRows(const Array& rows, const Shape& shape, int8_t axis);

// The shape with another length on `axis`.
Shape WithLength(const Shape& shape, int8_t axis, int64_t length);

// Zeros with `length` on `axis`, to which the elements of gy are added at their places.
// Differentiable in gy.
Array ScatterAlong(const Array& gy, const Array& places, int64_t length, int8_t axis);

}  // namespace chainerx::internal
