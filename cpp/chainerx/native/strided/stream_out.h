// Writing results past the caches. A store to memory that is in no cache reads its line first, so a
// result that is larger than the caches costs its size twice, and drives out what others need.
#pragma once

#include <cstdint>

namespace chainerx::native {

// From how many bytes of operands and result on it is worth it: below, a part of them is still in
// the cache from the last use, or for the next. INT64_MAX where the processor has no such stores.
int64_t StreamThreshold();

// Copies nbytes that don't overlap. Call FinishStreams() before others may look.
void StreamRow(char* dst, const char* src, int64_t nbytes);

// What this thread has streamed is seen by others before what it writes next.
void FinishStreams();

}  // namespace chainerx::native
