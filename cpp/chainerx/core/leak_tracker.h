// Counts of live array bodies, graph nodes and buffers, for tests of leaks and of the objects that
// graphs keep. Off by default: then an object costs one predictable branch.
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

class Buffer;

struct LiveCounts {
    int64_t bodies;
    int64_t nodes;
    int64_t buffers;
    int64_t bytes;  // in buffers, except foreign memory
};

// Starts (from zero) or stops counting. Objects made before the start distort the counts if they
// are destroyed while tracking, so start with a quiet library.
CX_API void SetLeakTracking(bool enabled);
CX_API LiveCounts GetLiveCounts();

namespace internal {

class CaptureObserver;

enum Tracked { kBody, kNode, kBuffer, kBytes, kNumTracked };

extern CX_API std::atomic<bool> g_tracking;
extern CX_API std::atomic<int64_t> g_live[kNumTracked];

inline bool IsTracking() { return g_tracking.load(std::memory_order_relaxed); }

inline void TrackLive(Tracked what, int64_t by) {
    if (g_tracking.load(std::memory_order_relaxed)) [[unlikely]] {
        g_live[what].fetch_add(by, std::memory_order_relaxed);
    }
}

// Counts a buffer that is born (1) or dies (-1), with `nbytes` of our own memory; and tells those
// who record (core/capture_observer.h).
CX_API CX_COLD void TrackBuffer(Buffer& buffer, int64_t nbytes, int64_t by);

// Who records wants to hear of buffers: of those that its own thread allocates, and of all that go.
CX_API void AddBufferObserver(CaptureObserver* observer);
CX_API void RemoveBufferObserver(CaptureObserver* observer);

// For the profiler: allocations per thread while somebody watches. Returns whether nobody else
// watches.
CX_API bool WatchMemory(bool begin);
struct WatchedMemory {
    uint32_t watch;  // number of the watching period; 0: nobody watches
    int64_t taken;   // by this thread, since the watching period began
    int64_t live;    // in all threads, relative to its beginning
    int64_t peak;    // of `live`
};
CX_API WatchedMemory GetWatchedMemory();
CX_API CX_COLD void WatchTaken(int64_t nbytes);  // negative when memory is freed

// Counts a kernel's workspace that is allocated or freed.
inline void TrackWorkspace(int64_t nbytes) {
    if (g_tracking.load(std::memory_order_relaxed)) [[unlikely]] {
        WatchTaken(nbytes);
    }
}

}  // namespace internal
}  // namespace chainerx

#define CX_TRACK_BORN(what) ::chainerx::internal::TrackLive(::chainerx::internal::what, 1)
#define CX_TRACK_DEAD(what) ::chainerx::internal::TrackLive(::chainerx::internal::what, -1)
