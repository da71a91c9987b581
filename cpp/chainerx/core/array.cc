#include "chainerx/core/array.h"

namespace chainerx {

void internal::ArrayBody::Unref() noexcept { UnrefInline(); }

void internal::ArrayBody::DropStrong() {
    if (slot != nullptr) {
        DetachSlot(*this);
    } else {
        UnrefMemory();
    }
}

void internal::ArrayBody::DropMemory() {
    if (slot != nullptr) ForgetSaved(*this);
    Destroy();
}

void internal::ArrayBody::ThrowNoBuffer() {
    throw OutOfMemoryError{"out of memory: the device has allocated no buffer"};
}

void internal::ThrowTooLarge(const Shape& shape, Dtype dtype) {
    throw DimensionError{"an array of shape ", shape, " and dtype ", GetDtypeName(dtype),
                         " is too large to address"};
}

Array Empty(const Shape& shape, Dtype dtype, Device& device) {
    CheckedNBytes("empty", shape, GetItemSize(dtype));
    return EmptyUnchecked(shape, dtype, device);
}

}  // namespace chainerx
