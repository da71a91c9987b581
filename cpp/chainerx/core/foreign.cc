#include "chainerx/core/foreign.h"

#include <cstdint>

#include "chainerx/core/overlap.h"

namespace chainerx::internal {

Array WrapForeign(void* data, const Shape& shape, const Strides& strides, Dtype dtype,
                  Device& device, Owner owner, bool writable) {
    auto* first = static_cast<char*>(data);
    const int64_t item_size = GetItemSize(dtype);
    const Extent extent = ExtentOf(first, shape, strides, item_size);
    Buffer* buffer = Buffer::Foreign(&device, extent.begin, extent.end - extent.begin, owner.owner,
                                     owner.release, writable);
    Array x = MakeArray(shape, strides, dtype, device, buffer, first);
    x.body()->read_only = !x.IsContiguous() && OverlapsItself(shape, strides, item_size);
    return x;
}

bool IsAligned(const Array& x) {
    const auto mask =
        static_cast<uint64_t>(IsComplex(x.dtype()) ? x.GetItemSize() / 2 : x.GetItemSize()) - 1;
    uint64_t bits = reinterpret_cast<uintptr_t>(x.raw_data());
    for (int64_t s : x.strides()) bits |= static_cast<uint64_t>(s);
    return (bits & mask) == 0;
}

}  // namespace chainerx::internal
