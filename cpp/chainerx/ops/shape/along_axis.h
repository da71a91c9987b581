// Shared by routines that work along an axis: parts, joining, rows for kernels, and gathering by
// indices on that axis. Not for users.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::internal {

// Returns whether x is a 0-d array that NumPy's functions treat as a vector of one element, for
// axis 0 or -1.
inline bool IsNumberAlong(const Array& x, int8_t axis) {
    return x.ndim() == 0 && (axis == 0 || axis == -1);
}

// Returns the part [begin, end) of an axis, by default up to its end: a view, in the graph of x.
Array PartAlong(const Array& x, int8_t axis, int64_t begin,
                std::optional<int64_t> end = std::nullopt);

// Prepends axes of length 1 until there are at least `ndim`.
Array WithLeadingAxes(const Array& x, int64_t ndim);

// Concatenates parts, in their graphs.
Array Join(const std::vector<Array>& parts, int8_t axis, const char* op);

// Copies the lines of `x` along `axis` to rows of a contiguous matrix, outside all graphs. x is not
// empty.
Array ToRows(const Array& x, int8_t axis);
// The inverse, in C order; `shape` is that of the result.
Array FromRows(const Array& rows, const Shape& shape, int8_t axis);

// Returns the shape with another length on `axis`.
Shape WithLength(const Shape& shape, int8_t axis, int64_t length);

// Returns zeros with `length` on `axis`, with the elements of gy added at their indices.
// Differentiable in gy.
Array ScatterAlong(const Array& gy, const Array& places, int64_t length, int8_t axis);

}  // namespace chainerx::internal
