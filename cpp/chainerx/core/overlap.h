// Overlap of arrays in memory. Compares addresses, since one memory may have several buffers: a
// NumPy array has one for each time that it was wrapped.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// From the lowest byte that strides reach to the end of the highest element.
struct Extent {
    char* begin;
    char* end;  // == begin if there are no elements
};
CX_API Extent ExtentOf(char* data, const Shape& shape, const Strides& strides, int64_t item_size);

// Returns whether the elements of both may share a byte. False is certain; true is not, if strides
// of several lengths are mixed.
CX_API bool MayShareMemorySlow(const Array& a, const Array& b);
inline bool MayShareMemory(const Array& a, const Array& b) {
    if (!a.IsContiguous() || !b.IsContiguous()) return MayShareMemorySlow(a, b);
    return a.raw_data() < b.raw_data() + b.GetNBytes() &&
           b.raw_data() < a.raw_data() + a.GetNBytes();
}

// Returns whether both arrays have each element at the same address.
inline bool IsSamePlace(const Array& a, const Array& b) {
    return a.raw_data() == b.raw_data() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
           a.strides() == b.strides();
}

// Returns whether an elementwise kernel that writes to `out` may overwrite elements of `x` before
// it reads them. Then it needs a copy of `x`.
inline bool MustCopy(const Array& out, const Array& x) {
    return MayShareMemory(out, x) && !IsSamePlace(out, x);
}

// Returns whether two elements share a byte; true also in the rare cases that would take long to
// decide.
CX_API bool OverlapsItself(const Shape& shape, const Strides& strides, int64_t item_size);

}  // namespace chainerx::internal
