// Counts of live array bodies, graph nodes and buffers, for tests of leaks and of what graphs keep.
// Off by default: then an object costs one predictable branch.
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

struct LiveCounts {
    int64_t bodies;
    int64_t nodes;
    int64_t buffers;
    int64_t bytes;  // in buffers, but for memory of others
};

// Starts (from zero) or stops counting. Objects born before the start are not counted as they die
// only if none of them dies while tracking, so start with a quiet library.
CX_API void SetLeakTracking(bool enabled);
CX_API LiveCounts GetLiveCounts();

namespace internal {

enum Tracked { kBody, kNode, kBuffer, kBytes, kNumTracked };

extern CX_API std::atomic<bool> g_tracking;
extern CX_API std::atomic<int64_t> g_live[kNumTracked];

inline bool IsTracking() { return g_tracking.load(std::memory_order_relaxed); }

inline void TrackLive(Tracked what, int64_t by) {
    if (g_tracking.load(std::memory_order_relaxed)) [[unlikely]] {
        g_live[what].fetch_add(by, std::memory_order_relaxed);
    }
}

// Of `nbytes` of our own memory, born (1) or dead (-1).
CX_API CX_COLD void TrackBuffer(int64_t nbytes, int64_t by);

// For the profiler: what is taken by whom, while somebody watches.
// Whether nobody else watches.
CX_API bool WatchMemory(bool begin);
struct WatchedMemory {
    uint32_t watch;  // 0: nobody watches; else another number after a while when nobody did
    int64_t taken;   // by this thread, since the first of those that watch now has begun
    int64_t live;    // in all threads, above what was there then
    int64_t peak;    // of that
};
CX_API WatchedMemory GetWatchedMemory();
CX_API CX_COLD void WatchTaken(int64_t nbytes);  // negative when it is given back

// A workspace of a kernel that is taken, or given back.
inline void TrackWorkspace(int64_t nbytes) {
    if (g_tracking.load(std::memory_order_relaxed)) [[unlikely]] {
        WatchTaken(nbytes);
    }
}

}  // namespace internal
}  // namespace chainerx

#define CX_TRACK_BORN(what) ::chainerx::internal::TrackLive(::chainerx::internal::what, 1)
#define CX_TRACK_DEAD(what) ::chainerx::internal::TrackLive(::chainerx::internal::what, -1)
