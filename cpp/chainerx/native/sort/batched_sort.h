// Batched small sort: each row in a lane of the registers. These are the kernels of
// kernels/sort/sorting.def; each returns false, and does nothing, if rows are long, few or complex.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::native {

bool SortShortRows(const Array& x, bool descending, const Array& out);
bool ArgSortShortRows(const Array& x, bool descending, const Array& out);
bool SelectShortRows(const Array& x, const Array& positions, const Array& out);
bool ArgPartitionShortRows(const Array& x, int64_t position, const Array& out);
bool PartitionShortRows(const Array& x, int64_t position, const Array& out);

}  // namespace chainerx::native
