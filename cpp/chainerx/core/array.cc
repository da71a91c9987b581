#include "chainerx/core/array.h"

namespace chainerx {

void internal::ArrayBody::DropStrong() {
    if (slot != nullptr) DetachSlot(*this);
    UnrefMemory();
}

Array Empty(const Shape& shape, Dtype dtype, Device& device) {
    CheckedNBytes("empty", shape, GetItemSize(dtype));
    return EmptyUnchecked(shape, dtype, device);
}

}  // namespace chainerx
