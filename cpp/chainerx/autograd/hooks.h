// Functions of the user's that see the gradient of an array in backward, and may replace it.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Gets the gradient once nothing more is added to it, and may not write to it: others may have the
// same one. What it returns, of the same shape, dtype and device, goes on in its place.
using GradHook = std::function<std::optional<Array>(const Array& grad)>;

namespace internal {
struct HookEntry;
struct Slot;
}  // namespace internal

// Small; does not keep the array.
class CX_API GradHookHandle {
 public:
    explicit GradHookHandle(std::weak_ptr<internal::HookEntry> entry) : entry_{std::move(entry)} {}
    // From now on it is not called, and what it kept is free. Again, or later, does nothing.
    void Remove() const;

 private:
    std::weak_ptr<internal::HookEntry> entry_;
};

// Has `hook` called in each backward of graph `id` that comes to `x`, in the order of registration.
// The default is the default graph; inside of a function that is differentiated (functional.h), the
// graph of that. The first call of a function in Checkpoint() has no graph, and the second one has:
// there, hooks of the first call are forgotten. It belongs to the place of `x` in the graph: it
// stays when `x` goes but results of it are there, and where it keeps such a result itself,
// Remove() is what ends that. ChainerxError if `x` is not in the graph. What a hook throws leaves
// backward by way of it, and graph and gradients are as before.
CX_API GradHookHandle RegisterGradHook(const Array& x, GradHook hook,
                                       const std::optional<BackpropId>& id = std::nullopt);

namespace internal {

// The graph that hooks are registered in where none is named, for arrays that are in it; null where
// they are forgotten.
class HookGraphScope {
 public:
    explicit HookGraphScope(const BackpropId* id);
    ~HookGraphScope();
    HookGraphScope(const HookGraphScope&) = delete;
    HookGraphScope& operator=(const HookGraphScope&) = delete;

    // The innermost of this thread, or null.
    static const HookGraphScope* current();
    const BackpropId* id() const { return id_; }

 private:
    const HookGraphScope* outer_;
    const BackpropId* id_;
};

// What the hooks of a place make of a gradient.
CX_COLD Array RunGradHooks(Slot& slot, const BackpropId& id, Array grad);

// For layers above, which know what a hook refers to. Whether there are hooks which only the array
// keeps that is at this place, as long as nobody else has that array.
CX_API bool HasHooksOfItsOwn(const Slot& slot);
// Those that nobody is calling. `visit` may not take locks.
CX_API void VisitGradHooks(Slot& slot, const std::function<void(const GradHook&)>& visit);
CX_API void RemoveGradHooks(Slot& slot);

}  // namespace internal
}  // namespace chainerx
