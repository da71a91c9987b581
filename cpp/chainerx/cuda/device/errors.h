// How kernels report what they find in values. Nothing is accessed out of bounds; the host throws
// at its next synchronization.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"

namespace chainerx::cuda {

// Takes an entry of the log, of which only the first few count. `position` is that of the value in
// the argument, in C order.
inline void ReportError(const Ptr<ErrorLog>& log, const ErrorSite& site, int64_t position,
                        int64_t value) {
    ErrorLog* const to = log;
    // Reads before, so that many errors neither wait for each other nor overflow the count.
    if (atomicAdd(&to->count, 0u) >= ErrorLog::kSize) return;
    const unsigned i = atomicAdd(&to->count, 1u);
    if (i >= ErrorLog::kSize) return;
    ErrorEntry& entry = to->entries[i];
    entry.site = site;
    entry.position = position;
    entry.value = value;
}

}  // namespace chainerx::cuda
