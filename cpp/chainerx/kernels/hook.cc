#include "chainerx/kernels/hook.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx {

namespace internal {

struct HookList {
    std::vector<std::shared_ptr<KernelHook>> hooks;  // the innermost first
};

}  // namespace internal

namespace {

using internal::HookList;

// A list is never changed, but replaced: running calls keep theirs.
struct Installed {
    internal::ForkMutex mutex;
    std::shared_ptr<const HookList> list = std::make_shared<const HookList>();
};

// Threads may call kernels while the process ends.
constinit internal::Lazy<Installed> g_installed;

std::shared_ptr<const HookList> CurrentList() {
    const std::lock_guard lock{g_installed.Get().mutex};
    return g_installed.Get().list;
}

bool Replace(auto&& change) {
    Installed& installed = g_installed.Get();
    // destroyed outside of the lock, since it may run destructors of hooks
    std::shared_ptr<const HookList> old;
    const std::lock_guard lock{installed.mutex};
    auto list = std::make_shared<HookList>(*installed.list);
    if (!change(list->hooks)) return false;
    old = std::exchange(installed.list, std::move(list));
    internal::HideKernels(!installed.list->hooks.empty());
    return true;
}

}  // namespace

KernelCall::KernelCall(const KernelCallData& data, const HookList& hooks)
    : data_{data}, hooks_{hooks}, next_{hooks.hooks.size()} {}

void KernelCall::Proceed() {
    if (next_ != 0) {
        hooks_.hooks[--next_]->Run(*this);
        return;
    }
    Backend& backend = *data_.device.backend();
    if (const KernelFn fn = backend.kernels()[data_.kernel.id]) {
        data_.invoke(fn, data_.operands);
    } else {
        backend.Launch(data_);
    }
}

KernelHook::~KernelHook() = default;

void InstallKernelHook(std::shared_ptr<KernelHook> hook) {
    Replace([&](auto& hooks) {
        hooks.push_back(std::move(hook));
        return true;
    });
}

bool RemoveKernelHook(const KernelHook* hook) {
    return Replace([&](auto& hooks) {
        const auto it = std::ranges::find_if(hooks, [&](const auto& h) { return h.get() == hook; });
        if (it == hooks.end()) return false;
        hooks.erase(it);
        return true;
    });
}

void Backend::Launch(const KernelCallData& call) {
    throw ChainerxError{"kernel ", call.kernel.name, " is not there on backend '",
                        name_,     "' (device ",     call.device.name(),
                        ")"};
}

void internal::CallHooked(const KernelCallData& call) {
    call.device.CheckAlive(call.kernel.name);
    const std::shared_ptr<const HookList> hooks = CurrentList();
    KernelCall{call, *hooks}.Proceed();
}

}  // namespace chainerx
