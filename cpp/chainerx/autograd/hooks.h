// User functions that see the gradient of an array in backward, and may replace it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Gets the complete gradient, and must not write to it: others may share it. A returned array, of
// the same shape, dtype and device, replaces it.
using GradHook = std::function<std::optional<Array>(const Array& grad)>;

namespace internal {
struct HookEntry;
struct Slot;
}  // namespace internal

// Small; does not keep the array.
class CX_API GradHookHandle {
 public:
    explicit GradHookHandle(std::weak_ptr<internal::HookEntry> entry) : entry_{std::move(entry)} {}
    // Ends the calls and frees its captures. Further calls have no effect.
    void Remove() const;

 private:
    std::weak_ptr<internal::HookEntry> entry_;
};

// Registers `hook`, which each backward of graph `id` calls when it reaches `x`, in the order of
// registration. The default is the default graph; inside of a function that is differentiated
// (functional.h), the graph of that. In Checkpoint() the first call of a function has no graph, and
// the second one has: there, hooks of the first call are forgotten. The hook belongs to the slot of
// `x`: it stays while results of `x` exist, even if `x` does not. If it keeps such a result itself,
// only Remove() ends that. ChainerxError if `x` is not in the graph. An exception of a hook leaves
// backward, and graph and gradients are as before.
CX_API GradHookHandle RegisterGradHook(const Array& x, GradHook hook,
                                       const std::optional<BackpropId>& id = std::nullopt);

namespace internal {

// The default graph for hooks on arrays that are in it; null where hooks are forgotten.
class HookGraphScope {
 public:
    explicit HookGraphScope(const BackpropId* id);
    ~HookGraphScope();
    HookGraphScope(const HookGraphScope&) = delete;
    HookGraphScope& operator=(const HookGraphScope&) = delete;

    // Returns the innermost scope of this thread, or null.
    static const HookGraphScope* current();
    const BackpropId* id() const { return id_; }

 private:
    const HookGraphScope* outer_;
    const BackpropId* id_;
};

// Returns the gradient after the hooks of a slot.
CX_COLD Array RunGradHooks(Slot& slot, const BackpropId& id, Array grad);

// How often a hook of a leaf has been registered or removed, in the process.
CX_API uint64_t CountLeafHookChanges();

// For layers above, which know the objects that a hook refers to. Returns whether there are hooks
// that only the array of this slot keeps, as long as nobody else has that array.
CX_API bool HasHooksOfItsOwn(const Slot& slot);
// Visits the hooks that nobody is calling. `visit` must not take locks.
CX_API void VisitGradHooks(Slot& slot, const std::function<void(const GradHook&)>& visit);
CX_API void RemoveGradHooks(Slot& slot);

}  // namespace internal
}  // namespace chainerx
