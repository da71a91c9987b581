// Unique ownership: whether an array may be overwritten though it is no output.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/array_body.h"

namespace chainerx::internal {

// Returns whether only the caller has the array and its memory, and no graph does. Elements may
// overlap.
inline bool HasUniqueOwner(const Array& x) {
    const ArrayBody* b = x.body();
    return b->IsSole() && b->slot == nullptr && b->python == nullptr && b->buffer->IsExclusive() &&
           !b->read_only;
}

}  // namespace chainerx::internal
