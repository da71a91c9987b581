// Backprop modes and scopes, all thread-local and released by RAII.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Disables or enables recording for ids of one context, until left or destroyed in the same thread.
class CX_API BackpropModeScope {
 public:
    BackpropModeScope(Context& context, uint64_t ids, bool enabled);
    ~BackpropModeScope();
    // ChainerxError in another thread than the one that entered; the mode stays active there.
    void Leave();
    BackpropModeScope(const BackpropModeScope&) = delete;
    BackpropModeScope& operator=(const BackpropModeScope&) = delete;

 private:
    uint64_t token_;
    bool left_{false};
};

namespace internal {
CX_API uint64_t IdsOf(const std::vector<BackpropId>& ids);
CX_API Context& ContextOf(const std::vector<BackpropId>& ids);
// Returns the ids that own these bits now; and those of some ids that have not been released since.
CX_API std::vector<BackpropId> IdsOfMask(Context& context, uint64_t mask);
CX_API uint64_t MaskOfLive(const std::vector<BackpropId>& ids);
}  // namespace internal

template <bool kEnabled>
class BasicBackpropModeScope {
 public:
    BasicBackpropModeScope() : BasicBackpropModeScope{GetDefaultContext()} {}
    explicit BasicBackpropModeScope(Context& context) : scope_{context, ~uint64_t{0}, kEnabled} {}
    explicit BasicBackpropModeScope(const std::vector<BackpropId>& ids)
        : scope_{internal::ContextOf(ids), internal::IdsOf(ids), kEnabled} {}

 private:
    BackpropModeScope scope_;
};

using NoBackpropModeScope = BasicBackpropModeScope<false>;
using ForceBackpropModeScope = BasicBackpropModeScope<true>;

// Returns whether the modes of this thread let operations record.
CX_API bool IsBackpropRequired(Context& context = GetDefaultContext());  // the default id
CX_API bool IsBackpropRequired(const BackpropId& id);

// Makes a backprop id and releases it at the end.
class CX_API BackpropScope {
 public:
    explicit BackpropScope(std::string name, Context& context = GetDefaultContext());
    ~BackpropScope();  // has no effect if the id has been released already
    BackpropScope(const BackpropScope&) = delete;
    BackpropScope& operator=(const BackpropScope&) = delete;

    const BackpropId& backprop_id() const { return id_; }

 private:
    BackpropId id_;
};

}  // namespace chainerx
