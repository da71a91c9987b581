#include "chainerx/core/foreign.h"

#include <cstdint>

namespace chainerx::internal {

namespace {

// The lowest address that strides reach, and the bytes from there to the end.
struct Extent {
    char* begin;
    int64_t nbytes;
};

Extent ExtentOf(char* data, const Shape& shape, const Strides& strides, int64_t item_size) {
    int64_t lo = 0;
    int64_t hi = item_size;
    for (int i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == 0) return {data, 0};
        const int64_t span = (shape[i] - 1) * strides[i];
        (span < 0 ? lo : hi) += span;
    }
    return {data + lo, hi - lo};
}

}  // namespace

Array WrapForeign(void* data, const Shape& shape, const Strides& strides, Dtype dtype,
                  Device& device, Owner owner, bool writable) {
    auto* first = static_cast<char*>(data);
    const Extent extent = ExtentOf(first, shape, strides, GetItemSize(dtype));
    Buffer* buffer =
        Buffer::Foreign(&device, extent.begin, extent.nbytes, owner.owner, owner.release, writable);
    return MakeArray(shape, strides, dtype, device, buffer, first);
}

bool IsAligned(const Array& x) {
    const auto mask =
        static_cast<uint64_t>(IsComplex(x.dtype()) ? x.GetItemSize() / 2 : x.GetItemSize()) - 1;
    uint64_t bits = reinterpret_cast<uintptr_t>(x.raw_data());
    for (int64_t s : x.strides()) bits |= static_cast<uint64_t>(s);
    return (bits & mask) == 0;
}

}  // namespace chainerx::internal
