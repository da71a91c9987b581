#include "chainerx/core/leak_tracker.h"

namespace chainerx {

std::atomic<bool> internal::g_tracking{false};
std::atomic<int64_t> internal::g_live[kNumTracked]{};

void SetLeakTracking(bool enabled) {
    if (enabled) {
        for (std::atomic<int64_t>& n : internal::g_live) n = 0;
    }
    internal::g_tracking = enabled;
}

void internal::TrackBuffer(int64_t nbytes, int64_t by) {
    g_live[kBuffer].fetch_add(by, std::memory_order_relaxed);
    g_live[kBytes].fetch_add(by * nbytes, std::memory_order_relaxed);
}

LiveCounts GetLiveCounts() {
    using namespace internal;
    return {g_live[kBody].load(), g_live[kNode].load(), g_live[kBuffer].load(),
            g_live[kBytes].load()};
}

}  // namespace chainerx
