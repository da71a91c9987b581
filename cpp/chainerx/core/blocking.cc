#include "chainerx/core/blocking.h"

namespace chainerx {

std::atomic<const BlockingHooks*> internal::g_blocking_hooks{nullptr};

void SetBlockingHooks(const BlockingHooks* hooks) {
    internal::g_blocking_hooks.store(hooks, std::memory_order_release);
}

}  // namespace chainerx
