#include "chainerx/core/blocking.h"

namespace chainerx {

std::atomic<const BlockingHooks*> internal::g_blocking_hooks{nullptr};
std::atomic<HostAccessHook> internal::g_host_access_hook{nullptr};

void SetBlockingHooks(const BlockingHooks* hooks) {
    internal::g_blocking_hooks.store(hooks, std::memory_order_release);
}

void SetHostAccessHook(HostAccessHook hook) {
    internal::g_host_access_hook.store(hook, std::memory_order_release);
}

}  // namespace chainerx
