#include "chainerx/core/fork_mutex.h"

#include <pthread.h>

namespace chainerx::internal {
namespace {

constinit std::mutex g_list_mutex;
constinit ForkMutex* g_first = nullptr;

// Never freed: an owner of the old one unlocks it after the fork.
std::atomic<std::recursive_mutex*> g_creation{new std::recursive_mutex};

[[maybe_unused]] const int g_renews = pthread_atfork(nullptr, nullptr, [] {
    g_creation.store(new std::recursive_mutex, std::memory_order_release);
});

}  // namespace

const int ForkMutex::g_handlers = pthread_atfork(&LockAll, &UnlockAll, &UnlockAll);

void ForkMutex::Enlist() {
    const std::lock_guard lock{g_list_mutex};
    if (is_listed_.load(std::memory_order_relaxed)) return;
    next_ = g_first;
    g_first = this;
    is_listed_.store(true, std::memory_order_relaxed);
}

// An owner of one mutex may wait for another, or add one: so this holds nothing while it waits.
void ForkMutex::LockAll() {
    while (true) {
        g_list_mutex.lock();
        ForkMutex* m = g_first;
        while (m != nullptr && m->mutex_.try_lock()) m = m->next_;
        if (m == nullptr) return;
        UnlockUpTo(m);
        m->lock();
        m->unlock();
    }
}

void ForkMutex::UnlockAll() { UnlockUpTo(nullptr); }

void ForkMutex::UnlockUpTo(const ForkMutex* end) {
    for (ForkMutex* m = g_first; m != end; m = m->next_) m->unlock();
    g_list_mutex.unlock();
}

std::recursive_mutex& CreationMutex() { return *g_creation.load(std::memory_order_acquire); }

}  // namespace chainerx::internal
