#include "chainerx/autograd/hooks.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/error.h"

namespace chainerx {

namespace internal {

// A hook; handles refer to it, slots own it. After its removal it has no function.
struct HookEntry {
    HookEntry(const BackpropId& id, bool is_of_leaf, GradHook hook)
        : id{id},
          is_of_leaf{is_of_leaf},
          function{std::make_shared<const GradHook>(std::move(hook))} {}

    // The caller keeps the function, since it may remove itself.
    std::shared_ptr<const GradHook> Get() {
        const std::lock_guard guard{lock};
        return function;
    }
    // Returns null while somebody calls it.
    const GradHook* GetIdle() {
        const std::lock_guard guard{lock};
        return function.use_count() == 1 ? function.get() : nullptr;
    }
    // Its captures are freed outside of the lock.
    std::shared_ptr<const GradHook> Take() {
        const std::lock_guard guard{lock};
        return std::exchange(function, nullptr);
    }

    const BackpropId id;
    const bool is_of_leaf;

 private:
    SpinLock lock;
    std::shared_ptr<const GradHook> function;
};

namespace {

using Entries = std::vector<std::shared_ptr<HookEntry>>;

void CheckResult(const Array& result, const Array& grad) {
    if (result.shape() != grad.shape()) {
        throw GradientError{"register_hook: the hook returned a gradient of shape ", result.shape(),
                            ", expected ", grad.shape()};
    }
    if (result.dtype() != grad.dtype()) {
        throw GradientError{"register_hook: the hook returned a gradient of dtype ", result.dtype(),
                            ", expected ", grad.dtype()};
    }
    if (&result.device() != &grad.device()) {
        throw GradientError{"register_hook: the hook returned a gradient on ",
                            result.device().name(), ", expected ", grad.device().name()};
    }
}

std::atomic<uint64_t> g_leaf_hook_changes{0};

thread_local const HookGraphScope* t_hook_graph = nullptr;

bool IsIn(const Slot* slot, const BackpropId& id) {
    return slot != nullptr && (slot->live.load(std::memory_order_relaxed) & id.mask()) != 0;
}

}  // namespace

HookGraphScope::HookGraphScope(const BackpropId* id) : outer_{t_hook_graph}, id_{id} {
    t_hook_graph = this;
}

HookGraphScope::~HookGraphScope() { t_hook_graph = outer_; }

const HookGraphScope* HookGraphScope::current() { return t_hook_graph; }

uint64_t CountLeafHookChanges() { return g_leaf_hook_changes.load(std::memory_order_relaxed); }

bool HasHooksOfItsOwn(const Slot& slot) {
    const auto& refs = slot.node != nullptr ? slot.node->refs : slot.refs;
    return slot.hooked.load(std::memory_order_relaxed) && refs.load() == 1;
}

void VisitGradHooks(Slot& slot, const std::function<void(const GradHook&)>& visit) {
    const std::lock_guard guard{slot.lock};
    if (slot.extra == nullptr) return;
    for (const auto& entry : slot.extra->hooks) {
        if (const GradHook* hook = entry->GetIdle()) visit(*hook);
    }
}

void RemoveGradHooks(Slot& slot) {
    Entries removed;  // freed outside of the lock
    const std::lock_guard guard{slot.lock};
    if (slot.extra != nullptr) removed.swap(slot.extra->hooks);
}

Array RunGradHooks(Slot& slot, const BackpropId& id, Array grad) {
    Entries entries;  // a copy, since hooks may register others
    {
        const std::lock_guard guard{slot.lock};
        if (slot.extra != nullptr) entries = slot.extra->hooks;
    }
    for (const auto& entry : entries) {
        if (!(entry->id == id)) continue;
        const std::shared_ptr<const GradHook> function = entry->Get();
        if (function == nullptr) continue;
        const uint32_t version = grad.buffer()->version();
        std::optional<Array> result = (*function)(grad);
        if (grad.buffer()->version() != version) {
            throw GradientError{"register_hook: the hook has written to the gradient, of shape ",
                                grad.shape(), ", which others may have; return a new array"};
        }
        if (result) {
            CheckResult(*result, grad);
            grad = std::move(*result);
        }
    }
    return grad;
}

}  // namespace internal

void GradHookHandle::Remove() const {
    if (const auto entry = entry_.lock()) {
        if (entry->is_of_leaf) ++internal::g_leaf_hook_changes;
        entry->Take();
    }
}

GradHookHandle RegisterGradHook(const Array& x, GradHook hook,
                                const std::optional<BackpropId>& id) {
    x.device().CheckAlive("register_hook");
    internal::Slot* slot = x.body()->slot;
    if (slot != nullptr) slot->DropExpired();
    const internal::HookGraphScope* scope = id ? nullptr : internal::HookGraphScope::current();
    if (scope != nullptr && scope->id() == nullptr) return GradHookHandle{{}};
    const BackpropId bid = id ? *id
                           : scope != nullptr && internal::IsIn(slot, *scope->id())
                               ? *scope->id()
                               : x.context().default_backprop_id();
    if (&bid.context() != &x.context()) {
        throw ContextError{
            "register_hook: the backprop id and the array are of different contexts"};
    }
    bid.CheckValid();
    if (!internal::IsIn(slot, bid)) {
        throw ChainerxError{"register_hook: this array of shape ", x.shape(),
                            " is not in the graph of backprop id '", bid.GetName(),
                            "'; call require_grad() first"};
    }
    const bool is_leaf = slot->node == nullptr;
    if (is_leaf) ++internal::g_leaf_hook_changes;
    auto entry = std::make_shared<internal::HookEntry>(bid, is_leaf, std::move(hook));
    GradHookHandle handle{entry};
    internal::Entries removed;  // freed outside of the lock
    const std::lock_guard guard{slot->lock};
    internal::Entries& hooks = slot->Extra().hooks;
    const auto gone = std::stable_partition(hooks.begin(), hooks.end(), [slot](const auto& e) {
        return e->Get() != nullptr && internal::IsIn(slot, e->id);
    });
    removed.assign(gone, hooks.end());
    hooks.erase(gone, hooks.end());
    hooks.push_back(std::move(entry));
    slot->hooked.store(true, std::memory_order_relaxed);
    return handle;
}

}  // namespace chainerx
