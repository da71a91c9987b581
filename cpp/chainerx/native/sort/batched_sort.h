// Batched small sort: each row in a lane of the registers. These are the
// kernels of kernels/sort/sorting.def.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::native {

// Whether rows of x, (rows, n), are so short and so many that batches pay.
bool AreShort(const Array& x);

// Whether batches can sort rows of x, or find the places of their sorted
// elements.
bool CanSortBatched(const Array& x, bool places);
// Only if they can. They return true.
bool SortBatched(const Array& x, bool descending, const Array& out);
bool ArgSortBatched(const Array& x, bool descending, const Array& out);

// Each returns false, and does nothing, if rows are long, few or complex.
bool SelectBatched(const Array& x, const Array& positions, const Array& out);
bool ArgPartitionBatched(const Array& x, int64_t position, const Array& out);
bool PartitionBatched(const Array& x, int64_t position, const Array& out);

}  // namespace chainerx::native
