// The memory that a device has in use, and its peak.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "chainerx/core/macro.h"
#ifdef CHAINERX_BUILDING
#include "chainerx/core/thread_state.h"
#endif

namespace chainerx {

class Device;

struct MemoryStats {
    int64_t in_use{0};       // bytes of blocks in use: those of arrays, and workspaces
    int64_t peak_in_use{0};  // maximum since the beginning, or the last reset
    int64_t workspace{0};    // the part of in_use in workspaces of kernels
    int64_t peak_workspace{0};
    int64_t allocations{0};  // blocks of arrays in use; views share one
    int64_t cached{0};       // bytes cached for reuse
    int64_t limit{-1};       // maximum of cached bytes; -1: no limit
};

// NotImplementedError if the device does not count its memory.
CX_API MemoryStats GetMemoryStats(Device& device);
CX_API void ResetPeakMemoryStats(Device& device);

// The counter of a device. It may be used from any thread; the peak includes values that existed
// only for a moment between two calls.
class CX_API MemoryCounter {
 public:
    MemoryCounter();
    ~MemoryCounter();
    MemoryCounter(const MemoryCounter&) = delete;
    MemoryCounter& operator=(const MemoryCounter&) = delete;

    // Negative when blocks are freed. `pending` bytes are also in use, and will be added later.
    void Add(int64_t bytes, int64_t blocks, int64_t pending = 0) noexcept {
        blocks_.fetch_add(blocks, std::memory_order_relaxed);
        Raise(peak_, in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes + pending);
    }
    void AddWorkspace(int64_t bytes) noexcept;

    // Returns all but `cached` and `limit`.
    MemoryStats Read() noexcept;
    void ResetPeaks() noexcept;

 private:
    static void Raise(std::atomic<int64_t>& peak, int64_t to) noexcept {
        int64_t before = peak.load(std::memory_order_relaxed);
        while (before < to && !peak.compare_exchange_weak(before, to, std::memory_order_relaxed)) {
        }
    }

    std::atomic<int64_t> in_use_{0};
    std::atomic<int64_t> peak_{0};
    std::atomic<int64_t> workspace_{0};
    std::atomic<int64_t> peak_workspace_{0};
    std::atomic<int64_t> blocks_{0};
};

namespace internal {

#ifdef CHAINERX_BUILDING

// Each thread counts small blocks itself, in few instructions, and reports to the counter after
// this many allocated or freed bytes. Read() asks all threads, so it is exact; a peak may miss as
// much in each thread.
inline constexpr int32_t kUntoldBytes = 64 << 10;

// Reports to the counter.
void TellSmall() noexcept;

// Returns this thread's bytes that have not been reported yet.
inline int64_t UntoldBytes(const MemoryCounter& counter) {
    const SmallBlocks& small = t_state.small_blocks;
    return small.counter == &counter ? small.give_room - small.take_room : 0;
}

// Other threads read these while their owner writes, so a write must not tear; one instruction does
// not, and costs less than the two moves of an atomic.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
inline bool SubtractIsNegative(int32_t& value, int32_t by) {
    bool negative;
    asm("subl %2, %0" : "+m"(value), "=@ccs"(negative) : "r"(by));
    return negative;
}
inline void AddOne(int32_t& value) { asm("incl %0" : "+m"(value) : : "cc"); }
inline void SubtractOne(int32_t& value) { asm("decl %0" : "+m"(value) : : "cc"); }
#else
inline int32_t AddRelaxed(int32_t& value, int32_t by) {
    const std::atomic_ref<int32_t> ref{value};
    const int32_t sum = ref.load(std::memory_order_relaxed) + by;
    ref.store(sum, std::memory_order_relaxed);
    return sum;
}
inline bool SubtractIsNegative(int32_t& value, int32_t by) { return AddRelaxed(value, -by) < 0; }
inline void AddOne(int32_t& value) { AddRelaxed(value, 1); }
inline void SubtractOne(int32_t& value) { AddRelaxed(value, -1); }
#endif

// Returns whether this thread counts for that counter.
inline bool UsesCounter(const MemoryCounter& counter) {
    return t_state.small_blocks.counter == &counter;
}

// For a thread that uses the counter; returns true if it is time for TellSmall().
inline bool CountSmallTaken(int32_t bytes) noexcept {
    AddOne(t_state.small_blocks.count);
    return SubtractIsNegative(t_state.small_blocks.take_room, bytes);
}
inline bool CountSmallGiven(int32_t bytes) noexcept {
    SubtractOne(t_state.small_blocks.count);
    return SubtractIsNegative(t_state.small_blocks.give_room, bytes);
}

// Makes the thread count for this device from now on.
void UseCounter(MemoryCounter& counter) noexcept;

// Returns the counter for this thread's workspaces: that of the device on which it has last
// allocated or freed memory; threads of the pool use that of the thread for which they work. Null
// if there is none.
MemoryCounter* CounterOfWorkspaces() noexcept;

// Called when a thread ends.
void TellSmallForTheLastTime() noexcept;

#endif

}  // namespace internal
}  // namespace chainerx
