// Copying many short runs of adjacent bytes, or many items that no two of are adjacent.
#pragma once

#include <cstdint>

#include "chainerx/native/strided/walk.h"

namespace chainerx::native {

// n runs of nbytes each, from stride to stride. The two sides don't overlap.
void CopyRuns(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n,
              int64_t nbytes);

// Copies all of a walk whose innermost axes are short: not row after row, each of which would cost
// more than its items do, but one place of the rows after the other, along an axis that is longer.
// False, and nothing has happened, if there are no such axes.
bool TryCopyShortRuns(const Walk<2>& walk, int64_t item_size);

}  // namespace chainerx::native
