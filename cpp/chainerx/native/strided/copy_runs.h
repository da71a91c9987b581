// Copies many short runs of adjacent bytes, or many isolated items.
#pragma once

#include <cstdint>

#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {

// Copies n runs of nbytes each, at the given strides. The two sides must not overlap.
void CopyRuns(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n,
              int64_t nbytes);

// Copies elements whose innermost axes are short. A loop over the rows would cost more per row than
// its items do, so it copies the same position of all rows along a longer axis, then the next
// position. Returns false, and does nothing, if there are no such axes.
bool TryCopyShortRuns(const StridedIterator<2>& iter, int64_t item_size);

}  // namespace chainerx::native
