#include "chainerx/autograd/scopes.h"

#include <bit>

#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

BackpropModeScope::BackpropModeScope(Context& context, uint64_t ids, bool enabled)
    : token_{internal::PushBackpropMode(&context, ids, enabled)} {}

BackpropModeScope::~BackpropModeScope() {
    if (!left_) internal::PopBackpropMode(token_);
}

void BackpropModeScope::Leave() {
    left_ = true;
    if (!internal::PopBackpropMode(token_)) {
        throw ChainerxError{"backprop mode: left in another thread than entered"};
    }
}

Context& internal::ContextOf(const std::vector<BackpropId>& ids) {
    if (ids.empty()) throw ContextError{"backprop mode: an empty list of backprop ids"};
    for (const BackpropId& id : ids) {
        if (&id.context() != &ids[0].context()) {
            throw ContextError{"backprop mode: backprop ids of different contexts"};
        }
    }
    return ids[0].context();
}

uint64_t internal::IdsOf(const std::vector<BackpropId>& ids) {
    uint64_t mask = 0;
    for (const BackpropId& id : ids) {
        id.CheckValid();
        mask |= id.mask();
    }
    return mask;
}

std::vector<BackpropId> internal::IdsOfMask(Context& context, uint64_t mask) {
    std::vector<BackpropId> ids;
    for (uint64_t left = mask & context.LiveIds(); left != 0; left &= left - 1) {
        ids.push_back(context.GetBackpropId(std::countr_zero(left)));
    }
    return ids;
}

uint64_t internal::MaskOfLive(const std::vector<BackpropId>& ids) {
    uint64_t mask = 0;
    for (const BackpropId& id : ids) {
        const bool live = (id.context().LiveIds() & id.mask()) != 0;
        if (live && id.context().GetBackpropId(id.bit()) == id) mask += id.mask();
    }
    return mask;
}

bool IsBackpropRequired(Context& context) {
    return IsBackpropRequired(context.default_backprop_id());
}

bool IsBackpropRequired(const BackpropId& id) {
    id.CheckValid();
    return (internal::RecordMask(&id.context()) & id.mask()) != 0;
}

BackpropScope::BackpropScope(std::string name, Context& context)
    : id_{context.MakeBackpropId(std::move(name))} {}

BackpropScope::~BackpropScope() { id_.context().TryReleaseBackpropId(id_); }

}  // namespace chainerx
