// A scope around work that blocks the calling thread for long: lets a host language run meanwhile
// (Python releases its global lock). Costs one load without hooks.
#pragma once

#include <atomic>

#include "chainerx/core/macro.h"

namespace chainerx {

struct BlockingHooks {
    void* (*enter)();            // its result is passed to leave
    void (*leave)(void* state);  // may wait
};

// `hooks` must live as long as the process.
CX_API void SetBlockingHooks(const BlockingHooks* hooks);

namespace internal {

extern CX_API std::atomic<const BlockingHooks*> g_blocking_hooks;

// Must be the outermost of all scopes that hold a lock, since leaving may wait.
class BlockingScope {
 public:
    BlockingScope() : hooks_{g_blocking_hooks.load(std::memory_order_acquire)} {
        if (hooks_ != nullptr) state_ = hooks_->enter();
    }
    ~BlockingScope() {
        if (hooks_ != nullptr) hooks_->leave(state_);
    }
    BlockingScope(const BlockingScope&) = delete;
    BlockingScope& operator=(const BlockingScope&) = delete;

 private:
    const BlockingHooks* hooks_;
    void* state_{nullptr};
};

}  // namespace internal
}  // namespace chainerx
