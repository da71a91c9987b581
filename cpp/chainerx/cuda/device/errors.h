// How kernels report what they find in values. Nothing is accessed out of bounds; the host throws
// at its next synchronization.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/error_log.h"

namespace chainerx::cuda {

// Takes an entry of the log, if none has an error of the same site: many errors of one operation
// leave room for those of others. `position` is that of the value in the argument, in C order.
inline void ReportError(const Ptr<ErrorLog>& log, const ErrorSite& site, int64_t position,
                        int64_t value) {
    ErrorLog* const to = log;
    for (ErrorEntry& entry : to->entries) {
        // Only what is free is written: the host may free an entry at any time.
        unsigned long long taken = atomicAdd(&entry.taken, 0ull);
        if (taken == 0) taken = atomicCAS(&entry.taken, 0ull, site.key);
        if (taken == site.key) return;
        if (taken != 0) continue;
        entry.site = site;
        entry.position = position;
        entry.value = value;
        __threadfence_system();
        atomicExch(&entry.is_written, 1u);
        __threadfence_system();
        atomicExch(&to->has_written, 1u);
        return;
    }
}

}  // namespace chainerx::cuda
