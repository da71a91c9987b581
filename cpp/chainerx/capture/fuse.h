// Fuses the calls of a recording: elementwise kernels of one shape, and reductions of rows, become
// chains that a device runs block by block (kernels/fuse/fused_chain.h).
#pragma once

#include <cstdint>

#include "chainerx/capture/recording.h"
#include "chainerx/core/macro.h"

namespace chainerx::internal {

// Drops calls whose results nobody reads, moves calls next to those with which they can be fused,
// and replaces these by calls of the kernel Fused, on devices that have it. Returns how many calls
// went into chains.
int64_t Fuse(Recording& recording);

}  // namespace chainerx::internal
