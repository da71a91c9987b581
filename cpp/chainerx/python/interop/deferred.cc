#include "chainerx/python/interop/deferred.h"

#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {
namespace {

struct Waiting {
    void* owner;
    void (*release)(void* owner);
};

constinit internal::ForkMutex g_mutex;
std::atomic<bool> g_any{false};
bool g_is_asked{false};  // whether a call of Drain is pending in Python

// Also for arrays that are released at exit.
constinit internal::Lazy<std::vector<Waiting>> g_queue;

// The number of nested releases of this thread. An owner may own another array of foreign memory,
// and so on, while the stack is finite.
constinit thread_local int t_depth = 0;
constexpr int kMaxDepth = 20;

struct DepthScope {
    DepthScope() { ++t_depth; }
    ~DepthScope() { --t_depth; }
    DepthScope(const DepthScope&) = delete;
    DepthScope& operator=(const DepthScope&) = delete;
};

// Releases also those that are queued meanwhile.
int Drain(void*) {
    const DepthScope depth;
    for (;;) {
        std::vector<Waiting> all;
        {
            const std::lock_guard lock{g_mutex};
            all.swap(g_queue.Get());
            g_any.store(false, std::memory_order_relaxed);
            g_is_asked = false;
        }
        if (all.empty()) return 0;
        for (const Waiting& w : all) w.release(w.owner);
    }
}

constinit thread_local int t_deferring = 0;

bool CanReleaseHere() { return PyGILState_Check() != 0 && t_depth < kMaxDepth && t_deferring == 0; }

}  // namespace

void ReleaseWithGil(void* owner, void (*release)(void* owner)) noexcept {
    if (Py_IsInitialized() == 0) return;
    if (CanReleaseHere()) {
        {
            const DepthScope depth;
            release(owner);
        }
        if (t_depth == 0) ReleaseDeferred();
        return;
    }
    const std::lock_guard lock{g_mutex};
    try {
        g_queue.Get().push_back({owner, release});
    } catch (const std::bad_alloc&) {
        return;  // the owner leaks, since there is no one to report the error to
    }
    g_any.store(true, std::memory_order_relaxed);
    // The outermost release of this thread drains the queue.
    if (t_depth != 0 && t_deferring == 0) return;
    // Python's queue of pending calls is short; if it is full, the next owner tries again.
    if (!g_is_asked) g_is_asked = Py_AddPendingCall(&Drain, nullptr) == 0;
}

DeferReleases::DeferReleases() { ++t_deferring; }
DeferReleases::~DeferReleases() { --t_deferring; }

void ReleaseDeferred() {
    if (g_any.load(std::memory_order_relaxed)) Drain(nullptr);
}

}  // namespace chainerx::python
