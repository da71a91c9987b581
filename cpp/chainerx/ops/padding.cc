#include "chainerx/ops/padding.h"

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/embed.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/take.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

constexpr OpInfo kPad{"pad"};

// Where the element at `i` of a padded axis comes from; the axis itself is [0, n).
int64_t Source(int64_t i, int64_t n, PadMode mode) {
    const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
    switch (mode) {
        case PadMode::kEdge:
            return i < 0 ? 0 : i >= n ? n - 1 : i;
        case PadMode::kReflect: {
            if (n == 1) return 0;
            const int64_t k = modulo(i, 2 * (n - 1));
            return k < n ? k : 2 * (n - 1) - k;
        }
        case PadMode::kSymmetric: {
            const int64_t k = modulo(i, 2 * n);
            return k < n ? k : 2 * n - 1 - k;
        }
        default:
            return modulo(i, n);
    }
}

Array PadAxis(const Array& x, int8_t axis, int64_t before, int64_t after, PadMode mode) {
    const int64_t n = x.shape()[axis];
    if (n == 0) {
        throw DimensionError{"pad: axis ", int64_t{axis}, " of shape ", x.shape(),
                             " is empty, only mode 'constant' can extend it"};
    }
    return internal::TakeBy("pad", x, axis, [n, before, after, mode, device = &x.device()] {
        const Array host = EmptyUnchecked({before + n + after}, Dtype::kInt64,
                                          device->context()->GetNativeBackend().GetDevice(0));
        auto* p = reinterpret_cast<int64_t*>(host.raw_data());
        for (int64_t i = -before; i < n + after; ++i) *p++ = Source(i, n, mode);
        return host.ToDevice(*device);
    });
}

// The copy of x in the middle of an array of one value.
Array PadConstant(const Array& x, const Shape& shape,
                  const std::vector<std::pair<int64_t, int64_t>>& widths, const Scalar& value) {
    Array y = Full(shape, value, x.dtype(), x.device());
    internal::Placement placement{shape, y.strides(), 0};
    for (int8_t i = 0; i < x.ndim(); ++i) {
        placement.offset += widths[static_cast<size_t>(i)].first * y.strides()[i];
    }
    if (x.GetTotalSize() != 0) {
        const Array part =
            internal::MakeView(y, x.shape(), placement.strides, y.raw_data() + placement.offset);
        CallOn<kernels::AsType>(x.device(), x, part);
    }
    if (Record rec{kPad, {x}, y}) {
        rec.Grad(0, [placement, inner = x.shape()](const Array& gy) {
            return internal::Extract(gy, placement, inner);
        });
    }
    return y;
}

}  // namespace

Array Pad(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& widths, PadMode mode,
          const Scalar& value) {
    if (static_cast<int64_t>(widths.size()) != x.ndim()) {
        throw DimensionError{"pad: ", widths.size(), " pairs of widths for an array of shape ",
                             x.shape()};
    }
    Shape shape = x.shape();
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const auto [before, after] = widths[static_cast<size_t>(i)];
        if (before < 0 || after < 0) {
            throw DimensionError{"pad: the widths (", before,     ", ",           after,
                                 ") of axis ",        int64_t{i}, " are negative"};
        }
        if (__builtin_add_overflow(shape[i], before, &shape[i]) ||
            __builtin_add_overflow(shape[i], after, &shape[i])) {
            throw DimensionError{"pad: axis ", int64_t{i}, " is too large to address"};
        }
    }
    CheckedNBytes("pad", shape, x.GetItemSize());
    if (mode == PadMode::kConstant) {
        internal::CheckScalarFits("pad", x.dtype(), value);
        return PadConstant(x, shape, widths, value);
    }
    Array y = x;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const auto [before, after] = widths[static_cast<size_t>(i)];
        if (before != 0 || after != 0) y = PadAxis(y, i, before, after, mode);
    }
    return y.buffer() == x.buffer() ? Copy(x) : y;
}

Array Tile(const Array& x, const Shape& repeats) {
    Shape counts = repeats;
    Axes lead;
    while (counts.ndim() < x.ndim()) counts.insert(0, 1);
    for (int8_t i = 0; i < counts.ndim() - x.ndim(); ++i) lead.push_back(i);
    Array y = lead.empty() ? x : ExpandDims(x, lead);
    Shape shape = y.shape();
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (counts[i] < 0) throw DimensionError{"tile: negative repeats in ", repeats};
        if (__builtin_mul_overflow(shape[i], counts[i], &shape[i])) {
            throw DimensionError{"tile: ", repeats, " of shape ", x.shape(),
                                 " are too large to address"};
        }
    }
    CheckedNBytes("tile", shape, x.GetItemSize());
    if (shape.GetTotalSize() == 0)
        return y.GetTotalSize() == 0 ? Reshape(y, shape) : Repeat(y, 0, 0).Reshape(shape);
    // Axis by axis, from the last one on: the copies are long runs then.
    for (int8_t i = shape.ndim() - 1; i >= 0; --i) {
        if (counts[i] == 1) continue;
        Shape grown = y.shape();
        int64_t before = 1;
        for (int8_t k = 0; k < i; ++k) before *= grown[k];
        const int64_t rest = y.GetTotalSize() / before;
        grown[i] *= counts[i];
        y = Reshape(BroadcastTo(Reshape(y, {before, 1, rest}), {before, counts[i], rest}), grown);
    }
    // Of the repeated axes, the first is repeated by strides alone.
    return y.buffer() == x.buffer() || y.body()->read_only ? Copy(y) : y;
}

Array Roll(const Array& x, const std::vector<int64_t>& shifts, const OptionalAxes& axes) {
    if (!axes) {
        if (shifts.size() != 1) {
            throw DimensionError{"roll: ", shifts.size(), " shifts without axes"};
        }
        return Reshape(Roll(Ravel(x), shifts, Axes{0}), x.shape());
    }
    const bool one = shifts.size() == 1;
    if (!one && static_cast<int64_t>(shifts.size()) != axes->size()) {
        throw DimensionError{"roll: ", shifts.size(), " shifts for ", axes->size(), " axes"};
    }
    Array y = x;
    for (int8_t k = 0; k < axes->ndim(); ++k) {
        const int8_t axis = NormalizeAxis("roll", (*axes)[k], x.ndim());
        const int64_t n = x.shape()[axis];
        if (n == 0) continue;
        const int64_t shift = (shifts[one ? 0 : static_cast<size_t>(k)] % n + n) % n;
        if (shift == 0) continue;
        const std::vector<Array> parts = Split(y, std::vector<int64_t>{n - shift}, axis, "roll");
        y = Concatenate({parts[1], parts[0]}, axis);
    }
    return y.buffer() == x.buffer() ? Copy(y) : y;
}

}  // namespace chainerx
