// Which arrays share memory. Compared are addresses, for one memory may have several buffers: that
// of a NumPy array has one for each time that it was wrapped.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// From the lowest byte that strides reach to the end of the highest element.
struct Extent {
    char* begin;
    char* end;  // == begin without elements
};
CX_API Extent ExtentOf(char* data, const Shape& shape, const Strides& strides, int64_t item_size);

// Whether a byte may belong to elements of both. False is certain; true is not, where strides of
// several lengths are mixed.
CX_API bool MayShareMemorySlow(const Array& a, const Array& b);
inline bool MayShareMemory(const Array& a, const Array& b) {
    if (!a.IsContiguous() || !b.IsContiguous()) return MayShareMemorySlow(a, b);
    return a.raw_data() < b.raw_data() + b.GetNBytes() &&
           b.raw_data() < a.raw_data() + a.GetNBytes();
}

// Whether each element of one lies where the other has the same element.
inline bool IsSamePlace(const Array& a, const Array& b) {
    return a.raw_data() == b.raw_data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
           a.strides() == b.strides();
}

// Whether an elementwise kernel that writes to `out` may change elements of `x` that it has still
// to read. Then it must be given a copy of `x`.
inline bool MustCopy(const Array& out, const Array& x) {
    return MayShareMemory(out, x) && !IsSamePlace(out, x);
}

// Whether two elements share a byte; true also in the rare cases that would take long to decide.
CX_API bool OverlapsItself(const Shape& shape, const Strides& strides, int64_t item_size);

}  // namespace chainerx::internal
