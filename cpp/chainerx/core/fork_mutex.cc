#include "chainerx/core/fork_mutex.h"

#include <pthread.h>

namespace chainerx::internal {
namespace {

constinit std::atomic<ForkMutex*> g_first{nullptr};
constinit ForkMutex* g_locked = nullptr;  // from here on, during a fork

// Never freed: who holds the old one gives it back after the fork.
std::atomic<std::recursive_mutex*> g_creation{new std::recursive_mutex};

[[maybe_unused]] const int g_renews = pthread_atfork(nullptr, nullptr, [] {
    g_creation.store(new std::recursive_mutex, std::memory_order_release);
});

}  // namespace

ForkMutex::ForkMutex() : next_{nullptr} {
    static const int registered = pthread_atfork(&LockAll, &UnlockAll, &UnlockAll);
    static_cast<void>(registered);
    next_ = g_first.load();
    while (!g_first.compare_exchange_weak(next_, this)) {
    }
}

// Who is inside one may wait for another: so nothing is held while waiting.
void ForkMutex::LockAll() {
    while (true) {
        ForkMutex* m = g_locked = g_first;
        while (m != nullptr && m->mutex_.try_lock()) m = m->next_;
        if (m == nullptr) return;
        UnlockUpTo(m);
        m->lock();
        m->unlock();
    }
}

void ForkMutex::UnlockAll() { UnlockUpTo(nullptr); }

void ForkMutex::UnlockUpTo(const ForkMutex* end) {
    for (ForkMutex* m = g_locked; m != end; m = m->next_) m->unlock();
}

std::recursive_mutex& CreationMutex() { return *g_creation.load(std::memory_order_acquire); }

}  // namespace chainerx::internal
