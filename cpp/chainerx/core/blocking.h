// A scope around work that blocks the calling thread for long: lets a host language run meanwhile
// (Python releases its global lock); and a hook on what makes the host wait for a device. Both cost
// one load without hooks.
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

struct BlockingHooks {
    void* (*enter)();            // its result is passed to leave
    void (*leave)(void* state);  // may wait
};

// `hooks` must live as long as the process.
CX_API void SetBlockingHooks(const BlockingHooks* hooks);

class Device;

enum class HostAccess : int8_t {
    kWait,   // the host waits for a device, or a stream of it
    kRead,   // the same, and copies to the host
    kWrite,  // a copy from pageable memory to the device
};

// Called in the thread that waits, before it does so; only for asynchronous devices.
using HostAccessHook = void (*)(const Device& device, HostAccess access, int64_t nbytes);

// Sets the hook of the process; null, the default, ends it.
CX_API void SetHostAccessHook(HostAccessHook hook);

namespace internal {

extern CX_API std::atomic<const BlockingHooks*> g_blocking_hooks;
extern CX_API std::atomic<HostAccessHook> g_host_access_hook;

inline void TellHostAccess(const Device& device, HostAccess access, int64_t nbytes) {
    const HostAccessHook hook = g_host_access_hook.load(std::memory_order_acquire);
    if (hook != nullptr) [[unlikely]]
        hook(device, access, nbytes);
}

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
