// Places blocks of memory that live for a while into one, so that those which are alive at the same
// time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx::internal {

struct PlannedBlock {
    int64_t nbytes;
    int64_t first;  // the first and the last moment at which it is needed
    int64_t last;
    int64_t offset{0};  // the result
};

// Fills in the offsets, multiples of `align`, a power of two; returns the bytes that all of them
// need. The largest block is placed first, each at the lowest offset where it fits (Pisarchyk & Lee
// 2020, "greedy by size").
CX_API int64_t PlanMemory(std::vector<PlannedBlock>& blocks, int64_t align);

}  // namespace chainerx::internal
