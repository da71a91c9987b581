#include "chainerx/core/leak_tracker.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx {

std::atomic<bool> internal::g_tracking{false};
std::atomic<int64_t> internal::g_live[kNumTracked]{};

namespace {

// Guards the number of users that track leaks or watch memory.
constinit internal::ForkMutex g_users_mutex;
bool g_leaks = false;
int g_watchers = 0;

// Guarded by a mutex of its own, since buffers die everywhere.
struct Observers {
    internal::ForkMutex mutex;
    std::vector<internal::CaptureObserver*> all;
};
constinit internal::Lazy<Observers> g_observers;  // buffers may outlive every static
std::atomic<int> g_n_observers{0};

void UpdateTracking() { internal::g_tracking = g_leaks || g_watchers != 0 || g_n_observers != 0; }

std::atomic<uint32_t> g_watch{0};  // number of the watching period; 0: nobody watches
uint32_t g_last_watch = 0;
std::atomic<int64_t> g_watched_live{0};
std::atomic<int64_t> g_watched_peak{0};

thread_local constinit struct {
    uint32_t watch;
    int64_t taken;
} t_watched{0, 0};

}  // namespace

void SetLeakTracking(bool enabled) {
    const std::lock_guard lock{g_users_mutex};
    if (enabled) {
        for (std::atomic<int64_t>& n : internal::g_live) n = 0;
    }
    g_leaks = enabled;
    UpdateTracking();
}

bool internal::WatchMemory(bool begin) {
    const std::lock_guard lock{g_users_mutex};
    g_watchers += begin ? 1 : -1;
    if (begin && g_watchers == 1) {
        g_watched_live = 0;
        g_watched_peak = 0;
        if (++g_last_watch == 0) ++g_last_watch;
        g_watch = g_last_watch;
    } else if (g_watchers == 0) {
        g_watch = 0;
    }
    UpdateTracking();
    return g_watchers == (begin ? 1 : 0);
}

void internal::WatchTaken(int64_t nbytes) {
    const uint32_t watch = g_watch.load(std::memory_order_relaxed);
    if (watch == 0) return;
    const int64_t live = g_watched_live.fetch_add(nbytes, std::memory_order_relaxed) + nbytes;
    if (nbytes < 0) return;
    int64_t peak = g_watched_peak.load(std::memory_order_relaxed);
    while (peak < live &&
           !g_watched_peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
    if (t_watched.watch != watch) t_watched = {watch, 0};
    t_watched.taken += nbytes;
}

internal::WatchedMemory internal::GetWatchedMemory() {
    const uint32_t watch = g_watch.load(std::memory_order_relaxed);
    return {watch, t_watched.watch == watch ? t_watched.taken : 0,
            g_watched_live.load(std::memory_order_relaxed),
            g_watched_peak.load(std::memory_order_relaxed)};
}

void internal::AddBufferObserver(CaptureObserver* observer) {
    const std::lock_guard lock{g_users_mutex};
    const std::lock_guard list{g_observers.Get().mutex};
    g_observers.Get().all.push_back(observer);
    ++g_n_observers;
    UpdateTracking();
}

void internal::RemoveBufferObserver(CaptureObserver* observer) {
    const std::lock_guard lock{g_users_mutex};
    const std::lock_guard list{g_observers.Get().mutex};
    if (std::erase(g_observers.Get().all, observer) != 0) --g_n_observers;
    UpdateTracking();
}

void internal::TrackBuffer(Buffer& buffer, int64_t nbytes, int64_t by) {
    if (g_n_observers.load(std::memory_order_relaxed) != 0) {
        if (by < 0) {
            const std::lock_guard lock{g_observers.Get().mutex};
            for (CaptureObserver* observer : g_observers.Get().all) observer->Died(buffer);
        } else if (t_state.capture != nullptr) {
            t_state.capture->Born(buffer);
        }
    }
    g_live[kBuffer].fetch_add(by, std::memory_order_relaxed);
    g_live[kBytes].fetch_add(by * nbytes, std::memory_order_relaxed);
    WatchTaken(by * nbytes);
}

LiveCounts GetLiveCounts() {
    using namespace internal;
    return {g_live[kBody].load(), g_live[kNode].load(), g_live[kBuffer].load(),
            g_live[kBytes].load()};
}

}  // namespace chainerx
