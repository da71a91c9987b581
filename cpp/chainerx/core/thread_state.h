// All thread-local state in one struct: default device and context, backprop modes, pools. It is
// constant-initialized and accessed without a wrapper call (initial-exec), hence small.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/core/macro.h"

namespace chainerx {

class Context;
class Device;
class MemoryCounter;

namespace internal {

struct Region;          // autograd/region.h
class RecordObserver;   // autograd/record_observer.h
class CaptureObserver;  // core/capture_observer.h

// One entered no_backprop_mode or force_backprop_mode.
struct BackpropMode {
    Context* context;
    uint64_t ids;
    bool enabled;
    uint64_t token;  // identifies the scope, since scopes may be left out of order
};

// Rarely used state, allocated on demand, deleted when the thread ends.
struct ThreadExtra {
    std::vector<BackpropMode> modes;
    uint64_t next_token;  // starts at another number in each thread
};

// The small blocks of one device that this thread has allocated and freed, and not reported yet:
// core/memory_stats.h. Other threads read it.
struct SmallBlocks {
    MemoryCounter* counter;  // of the device
    int32_t take_room;       // bytes that may be allocated before the next report
    int32_t give_room;
    int32_t count;
    SmallBlocks* next;  // of another thread
};

struct ThreadState {
    static constexpr int kNumPoolClasses = 16;
    static constexpr uint32_t kPoolLimit = 512;

    struct FreeList {
        void* head;
        uint32_t count;
    };

    FreeList pool[kNumPoolClasses]{};
    uint32_t pool_limit{0};  // 0 until the thread's clean-up is registered, and after it ran

    SmallBlocks small_blocks{};
    // In a thread of the pool: the counter of the thread for which it works.
    MemoryCounter* job_counter{nullptr};

    Context* default_context{nullptr};
    // number of destroyed contexts when the default context was last known to be alive
    uint32_t contexts_destroyed{0};
    Device* default_device{nullptr};

    // The ids of `record_context` for which operations record now; see RecordMask().
    Context* record_context{nullptr};
    uint64_t record_mask{~uint64_t{0}};

    Region* region{nullptr};      // the function that is being computed; new nodes belong to it
    uint32_t differentiating{0};  // nesting depth of derivatives that are being computed
    RecordObserver* record_observer{nullptr};  // sees recorded operations; null if there is none
    CaptureObserver* capture{nullptr};  // records this thread's kernel calls; null if none does

    uint64_t node_sequence{0};
    void* nodes_to_destroy{nullptr};  // autograd: nodes waiting for destruction
    bool destroying{false};

    ThreadExtra* extra{nullptr};
};

extern CX_API constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec")));

CX_API ThreadExtra& GetThreadExtra();

// Registers the clean-up of this thread's state; false if it has already run.
bool RegisterThread();

// Computes the mask of a context other than the cached one.
CX_API uint64_t RecordMaskSlow(Context* context);

// The backprop ids for which operations on arrays of `context` record a graph in this thread.
inline uint64_t RecordMask(Context* context) {
    if (t_state.record_context == context) [[likely]]
        return t_state.record_mask;
    return RecordMaskSlow(context);
}

// Enters a mode; the token leaves it. Tokens are unique in the process; leaving returns false if
// the mode was entered in another thread, where it stays active.
CX_API uint64_t PushBackpropMode(Context* context, uint64_t ids, bool enabled);
CX_API bool PopBackpropMode(uint64_t token) noexcept;

}  // namespace internal
}  // namespace chainerx
