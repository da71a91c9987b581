#include "chainerx/ops/elementwise/packed_bits.h"

#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx {
namespace {

constexpr int64_t kBits = 8;

Array WithZeros(const Array& x, int8_t axis, int64_t n) {
    PadWidths widths(static_cast<size_t>(x.ndim()));
    widths[static_cast<size_t>(axis)].second = n;
    return Pad(x, widths);
}

}  // namespace

Array Packbits(const Array& a, std::optional<int8_t> axis, BitOrder bitorder) {
    static constexpr const char* kOp = "packbits";
    if (IsDifferentiable(a.dtype())) {
        throw DtypeError{kOp, ": a must be of bool or integers, got ", a.dtype()};
    }
    const Array x = axis && !internal::IsNumberAlong(a, *axis) ? a : Ravel(a);
    const int8_t along = NormalizeAxis(kOp, axis.value_or(0), x.ndim());
    const auto last = static_cast<int8_t>(x.ndim() - 1);
    const Array is_set = IsBool(x.dtype()) ? internal::Detached(x) : NotEqual(x, 0);
    const Array bits = AsContiguous(Moveaxis(is_set, Axes{along}, Axes{last}));
    Shape shape = bits.shape();
    shape[last] = (bits.shape()[last] + kBits - 1) / kBits;
    const Array bytes = EmptyUnchecked(shape, Dtype::kUInt8, a.device());
    CallOn<kernels::PackBits>(a.device(), bits, bitorder == BitOrder::kBig, bytes);
    return AsContiguous(Moveaxis(bytes, Axes{last}, Axes{along}));
}

Array Unpackbits(const Array& a, std::optional<int8_t> axis, std::optional<int64_t> count,
                 BitOrder bitorder) {
    static constexpr const char* kOp = "unpackbits";
    if (a.dtype() != Dtype::kUInt8) {
        throw DtypeError{kOp, ": a must be of uint8, got ", a.dtype()};
    }
    const Array x = axis && !internal::IsNumberAlong(a, *axis) ? a : Ravel(a);
    const int8_t along = NormalizeAxis(kOp, axis.value_or(0), x.ndim());
    const auto last = static_cast<int8_t>(x.ndim() - 1);
    const Array bytes = AsContiguous(Moveaxis(x, Axes{along}, Axes{last}));
    const int64_t n = x.shape()[along] * kBits;
    Shape shape = bytes.shape();
    shape[last] = n;
    CheckedNBytes(kOp, shape, 1);
    const Array bits = EmptyUnchecked(shape, Dtype::kUInt8, a.device());
    CallOn<kernels::UnpackBits>(a.device(), bytes, bitorder == BitOrder::kBig, bits);
    Array y = Moveaxis(bits, Axes{last}, Axes{along});
    if (count) {
        const int64_t wanted = *count < 0 ? n + *count : *count;
        if (wanted < 0) {
            throw ValueError{kOp, ": count is ", *count, ", and there are ", n, " bits"};
        }
        y = wanted > n ? WithZeros(y, along, wanted - n) : internal::PartAlong(y, along, 0, wanted);
    }
    return AsContiguous(y);
}

}  // namespace chainerx
