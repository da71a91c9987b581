#include "chainerx/ops/packed_bits.h"

#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/along_axis.h"
#include "chainerx/ops/bitwise.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/padding.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

constexpr int64_t kBits = 8;

// By how many places each bit of a byte is shifted.
Array Shifts(BitOrder order, Device& device) {
    const Array upwards = Arange(Scalar{kBits}, Dtype::kInt64, device);
    return AsType(order == BitOrder::kBig ? kBits - 1 - upwards : upwards, Dtype::kUInt8);
}

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
    const int64_t n = x.shape()[along];
    // The bits of a byte last.
    Array bits = Moveaxis(NotEqual(x, 0), Axes{along}, Axes{static_cast<int8_t>(x.ndim() - 1)});
    const auto last = static_cast<int8_t>(x.ndim() - 1);
    if (n % kBits != 0) bits = WithZeros(bits, last, kBits - n % kBits);
    Shape shape = bits.shape();
    shape[last] = (n + kBits - 1) / kBits;
    shape.push_back(kBits);
    const Array values =
        LeftShift(AsType(Reshape(bits, shape), Dtype::kUInt8), Shifts(bitorder, a.device()));
    const Array bytes = AsType(Sum(values, Axes{x.ndim()}), Dtype::kUInt8);
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
    const Array bytes = ExpandDims(Moveaxis(x, Axes{along}, Axes{last}), Axes{x.ndim()});
    const Array bits = BitwiseAnd(RightShift(bytes, Shifts(bitorder, a.device())), 1);
    const int64_t n = x.shape()[along] * kBits;
    Shape shape = bits.shape();
    shape.pop_back();
    shape[last] = n;
    Array y = Moveaxis(Reshape(bits, shape), Axes{last}, Axes{along});
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
