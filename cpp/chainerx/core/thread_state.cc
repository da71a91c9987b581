#include "chainerx/core/thread_state.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "chainerx/core/error.h"
#include "chainerx/core/memory_stats.h"
#include "chainerx/core/pool.h"

namespace chainerx::internal {

constinit thread_local ThreadState t_state{};

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kUsePool = false;  // so that the sanitizer sees every free
#else
constexpr bool kUsePool = true;
#endif

struct ThreadCleanup {
    bool registered{false};
    ~ThreadCleanup() {
        done = true;
        TellSmallForTheLastTime();
        t_state.pool_limit = 0;
        for (ThreadState::FreeList& list : t_state.pool) {
            while (void* p = list.head) {
                list.head = *static_cast<void**>(p);
                std::free(p);
            }
            list.count = 0;
        }
        delete t_state.extra;
        t_state.extra = nullptr;
    }
    bool done{false};
};

thread_local ThreadCleanup t_cleanup;

}  // namespace

// Touching t_cleanup registers its destructor, once per thread.
bool RegisterThread() {
    if (t_cleanup.done) return false;
    if (!t_cleanup.registered) {
        t_cleanup.registered = true;
        if (kUsePool) t_state.pool_limit = ThreadState::kPoolLimit;
    }
    return true;
}

void* PoolAllocSlow(size_t size) {
    RegisterThread();
    const size_t rounded = (size + kPoolGrain - 1) / kPoolGrain * kPoolGrain;
    void* p = rounded < size ? nullptr : std::aligned_alloc(kPoolGrain, rounded);
    if (p == nullptr) throw OutOfMemoryError{"out of memory: ", size, " bytes asked for"};
    return p;
}

void PoolFreeSlow(void* p, size_t /*size*/) noexcept { std::free(p); }

void* PoolAllocOutside(size_t size) { return PoolAlloc(size); }
void PoolFreeOutside(void* p, size_t size) noexcept { PoolFree(p, size); }

ThreadExtra& GetThreadExtra() {
    RegisterThread();
    static std::atomic<uint64_t> n_threads{0};
    if (t_state.extra == nullptr) t_state.extra = new ThreadExtra{{}, n_threads++ << 40};
    return *t_state.extra;
}

uint64_t RecordMaskSlow(Context* context) {
    uint64_t mask = ~uint64_t{0};
    if (t_state.extra != nullptr) {
        for (const BackpropMode& m : t_state.extra->modes) {
            if (m.context == context) mask = m.enabled ? mask | m.ids : mask & ~m.ids;
        }
    }
    t_state.record_context = context;
    t_state.record_mask = mask;
    return mask;
}

uint64_t PushBackpropMode(Context* context, uint64_t ids, bool enabled) {
    ThreadExtra& extra = GetThreadExtra();
    extra.modes.push_back({context, ids, enabled, extra.next_token});
    t_state.record_context = nullptr;
    return extra.next_token++;
}

bool PopBackpropMode(uint64_t token) noexcept {
    if (t_state.extra == nullptr) return false;
    std::vector<BackpropMode>& modes = t_state.extra->modes;
    const auto it = std::find_if(modes.begin(), modes.end(),
                                 [&](const BackpropMode& m) { return m.token == token; });
    if (it == modes.end()) return false;
    modes.erase(it);
    t_state.record_context = nullptr;
    return true;
}

}  // namespace chainerx::internal
