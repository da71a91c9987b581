#include "chainerx/io/elements.h"

#include <algorithm>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::io {
namespace {

void SwapBytes(const Array& x) {
    const int64_t part = GetItemSize(RealDtype(x.dtype()));
    char* const end = x.raw_data() + x.GetNBytes();
    for (char* p = x.raw_data(); part > 1 && p != end; p += part) std::reverse(p, p + part);
}

// Reads to host memory.
Array ReadToHost(Source& source, const Shape& shape, Dtype dtype, ByteOrder order,
                 Context& context) {
    Array x = Empty(shape, dtype, context.GetDevice("native", 0));
    source.Read(x.raw_data(), static_cast<uint64_t>(x.GetNBytes()));
    if (order == ByteOrder::kSwapped) SwapBytes(x);
    if (IsBool(dtype)) {  // no other byte is a bool
        for (int64_t i = 0; i < x.GetTotalSize(); ++i) x.raw_data()[i] = x.raw_data()[i] != 0;
    }
    return x;
}

}  // namespace

Shape CheckShape(const std::vector<int64_t>& dims, Dtype dtype, uint64_t nbytes,
                 const std::string& what) {
    if (dims.size() > static_cast<size_t>(kMaxNdim)) {
        throw DimensionError{what, " has ", dims.size(), " dimensions, expected at most ",
                             int64_t{kMaxNdim}};
    }
    const Shape shape{dims.begin(), dims.end()};
    int64_t needed = GetItemSize(dtype);
    for (const int64_t d : dims) {
        if (d < 0 || __builtin_mul_overflow(needed, d, &needed)) {
            throw ValueError{what, " has the impossible shape ", shape};
        }
    }
    if (static_cast<uint64_t>(needed) != nbytes) {
        throw ValueError{what,  " has ",   nbytes, " bytes of data, but ", dtype, " of shape ",
                         shape, " needs ", needed};
    }
    return shape;
}

Array ReadElements(Source& source, const Shape& shape, Dtype dtype, ByteOrder order,
                   Device& device) {
    Array x = ReadToHost(source, shape, dtype, order, *device.context());
    return &x.device() == &device ? x : x.ToDevice(device);
}

Array ReadFortranElements(Source& source, const Shape& shape, Dtype dtype, ByteOrder order,
                          Device& device) {
    Shape reversed = shape;
    std::reverse(reversed.begin(), reversed.end());
    const Array x = ReadToHost(source, reversed, dtype, order, *device.context());
    const Array y = AsContiguous(x.Transpose());
    return &y.device() == &device ? y : y.ToDevice(device);
}

Array ToHostElements(const Array& x) {
    return AsContiguous(x.AsGradStopped().ToDevice(x.context().GetDevice("native", 0)));
}

}  // namespace chainerx::io
