#include "chainerx/core/memory_stats.h"

#include <pthread.h>

#include <mutex>
#include <utility>

#include "chainerx/core/device.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx {
namespace internal {
namespace {

// Guards the list of threads, their counters, and their reports. It takes no other lock.
constinit ForkMutex g_mutex;
constinit SmallBlocks* g_threads = nullptr;
// For workspaces of threads that have never allocated memory.
constinit std::atomic<MemoryCounter*> g_any_counter{nullptr};

int32_t Load(const int32_t& value) {
    return std::atomic_ref<int32_t>{const_cast<int32_t&>(value)}.load(std::memory_order_relaxed);
}

void Store(int32_t& value, int32_t to) {
    std::atomic_ref<int32_t>{value}.store(to, std::memory_order_relaxed);
}

int64_t UntoldBytesOf(const SmallBlocks& small) {
    return Load(small.give_room) - Load(small.take_room);
}

void Tell(SmallBlocks& small) {
    if (small.counter != nullptr) small.counter->Add(UntoldBytesOf(small), Load(small.count));
    Store(small.take_room, kUntoldBytes);
    Store(small.give_room, kUntoldBytes);
    Store(small.count, 0);
}

void Unlist(SmallBlocks& small) {
    SmallBlocks** p = &g_threads;
    while (*p != nullptr && *p != &small) p = &(*p)->next;
    if (*p != nullptr) *p = std::exchange(small.next, nullptr);
    small.counter = nullptr;
}

// Reports for the threads of the parent, since their memory may be reused from now on. Needs no
// lock: there is one thread.
void ForgetOtherThreads() {
    for (SmallBlocks* small = g_threads; small != nullptr;) {
        SmallBlocks& other = *std::exchange(small, small->next);
        if (&other == &t_state.small_blocks) continue;
        Tell(other);
        Unlist(other);
    }
}

[[maybe_unused]] const int g_fork_handler = pthread_atfork(nullptr, nullptr, &ForgetOtherThreads);

}  // namespace

void TellSmall() noexcept {
    const std::lock_guard lock{g_mutex};
    Tell(t_state.small_blocks);
}

void UseCounter(MemoryCounter& counter) noexcept {
    SmallBlocks& small = t_state.small_blocks;
    if (small.counter == &counter || !RegisterThread()) return;
    const std::lock_guard lock{g_mutex};
    Tell(small);
    if (small.counter == nullptr) small.next = std::exchange(g_threads, &small);
    small.counter = &counter;
}

MemoryCounter* CounterOfWorkspaces() noexcept {
    if (t_state.job_counter != nullptr) return t_state.job_counter;
    if (t_state.small_blocks.counter != nullptr) return t_state.small_blocks.counter;
    return g_any_counter.load(std::memory_order_acquire);
}

void TellSmallForTheLastTime() noexcept {
    const std::lock_guard lock{g_mutex};
    Tell(t_state.small_blocks);
    Unlist(t_state.small_blocks);
}

}  // namespace internal

using internal::g_mutex;
using internal::g_threads;

MemoryCounter::MemoryCounter() {
    MemoryCounter* none = nullptr;
    internal::g_any_counter.compare_exchange_strong(none, this, std::memory_order_acq_rel);
}

// Also called for a device whose constructor failed; live devices last as long as the process.
MemoryCounter::~MemoryCounter() {
    MemoryCounter* self = this;
    internal::g_any_counter.compare_exchange_strong(self, nullptr, std::memory_order_acq_rel);
    const std::lock_guard lock{g_mutex};
    for (internal::SmallBlocks* small = g_threads; small != nullptr;) {
        internal::SmallBlocks& thread = *std::exchange(small, small->next);
        if (thread.counter == this) internal::Unlist(thread);
    }
}

void MemoryCounter::AddWorkspace(int64_t bytes) noexcept {
    Raise(peak_workspace_, workspace_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
    Add(bytes, 0, internal::UntoldBytes(*this));
}

MemoryStats MemoryCounter::Read() noexcept {
    const std::lock_guard lock{g_mutex};
    MemoryStats stats;
    stats.in_use = in_use_.load(std::memory_order_relaxed);
    stats.allocations = blocks_.load(std::memory_order_relaxed);
    for (const internal::SmallBlocks* small = g_threads; small != nullptr; small = small->next) {
        if (small->counter != this) continue;
        stats.in_use += internal::UntoldBytesOf(*small);
        stats.allocations += internal::Load(small->count);
    }
    Raise(peak_, stats.in_use);
    stats.peak_in_use = peak_.load(std::memory_order_relaxed);
    stats.workspace = workspace_.load(std::memory_order_relaxed);
    stats.peak_workspace = peak_workspace_.load(std::memory_order_relaxed);
    return stats;
}

void MemoryCounter::ResetPeaks() noexcept {
    peak_workspace_.store(workspace_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    peak_.store(Read().in_use, std::memory_order_relaxed);
}

MemoryStats GetMemoryStats(Device& device) { return device.ReadMemoryStats(); }

void ResetPeakMemoryStats(Device& device) { device.ResetMemoryPeaks(); }

}  // namespace chainerx
