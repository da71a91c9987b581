// Non-temporal stores, which bypass the caches. A normal store that misses reads its line first, so
// a result that is larger than the caches costs twice its size in traffic, and evicts other data.
#pragma once

#include <cstdint>

namespace chainerx::native {

// The size of operands and result, in bytes, from which non-temporal stores pay: below, a part of
// them is still in cache from the last use, or will be for the next. INT64_MAX if the processor has
// none.
int64_t NonTemporalThreshold();

// Copies nbytes that don't overlap. Call FenceNonTemporal() before other threads may read them.
void CopyNonTemporal(char* dst, const char* src, int64_t nbytes);

// A store fence: orders this thread's non-temporal stores before its later writes.
void FenceNonTemporal();

}  // namespace chainerx::native
