// Tiling and rolling.
#include <vector>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/padding.h"

namespace chainerx {
namespace {

constexpr OpInfo kRoll{"roll"};

}  // namespace

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
    // Tiles from the last axis to the first, so that copies are long runs.
    for (int8_t i = shape.ndim() - 1; i >= 0; --i) {
        if (counts[i] == 1) continue;
        Shape grown = y.shape();
        int64_t before = 1;
        for (int8_t k = 0; k < i; ++k) before *= grown[k];
        const int64_t rest = y.GetTotalSize() / before;
        grown[i] *= counts[i];
        y = Reshape(BroadcastTo(Reshape(y, {before, 1, rest}), {before, counts[i], rest}), grown);
    }
    // The first repeated axis has only been repeated by strides, so it may need a copy.
    return y.buffer() == x.buffer() || y.body()->read_only ? Copy(y) : y;
}

namespace {

// Returns x[i] at index i + shifts[axis] of each axis, cyclically; shifts are in [0, n).
Array RollBy(const Array& x, const Shape& shifts) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    const auto part = [](const Array& a, const Shape& begin, const Shape& shape) {
        char* data = a.raw_data();
        for (int8_t i = 0; i < a.ndim(); ++i) data += begin[i] * a.strides()[i];
        return internal::MakeView(a, shape, a.strides(), data);
    };
    // Each rolled axis has two parts: bit i selects the part on axis i.
    int moved = 0;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (shifts[i] != 0) moved |= 1 << i;
    }
    for (int which = moved;; which = (which - 1) & moved) {
        Shape from;
        Shape to;
        Shape shape;
        for (int8_t i = 0; i < x.ndim(); ++i) {
            const int64_t n = x.shape()[i];
            const bool is_end = (which >> i & 1) != 0;  // the end wraps around to the front
            from.push_back(is_end ? n - shifts[i] : 0);
            to.push_back(is_end ? 0 : shifts[i]);
            shape.push_back(is_end ? shifts[i] : n - shifts[i]);
        }
        CallOn<kernels::AsType>(x.device(), part(x, from, shape), part(y, to, shape));
        if (which == 0) break;
    }
    if (Record rec{kRoll, {x}, y}) {
        Shape back;
        for (int8_t i = 0; i < x.ndim(); ++i) {
            back.push_back(shifts[i] == 0 ? 0 : x.shape()[i] - shifts[i]);
        }
        rec.Grad(0, [back](const Array& gy) { return RollBy(gy, back); });
    }
    return y;
}

}  // namespace

Array Roll(const Array& x, const std::vector<int64_t>& shifts, const OptionalAxes& axes) {
    if (!axes) {
        return Reshape(Roll(Ravel(x), shifts, Axes{0}), x.shape());
    }
    const bool one_shift = shifts.size() == 1;
    const bool one_axis = axes->size() == 1;
    if (!one_shift && !one_axis && static_cast<int64_t>(shifts.size()) != axes->size()) {
        throw DimensionError{"roll: ", shifts.size(), " shifts for ", axes->size(), " axes"};
    }
    Shape total;
    total.resize(x.ndim(), 0);
    const size_t count = one_axis ? shifts.size() : static_cast<size_t>(axes->size());
    for (size_t k = 0; k < count; ++k) {
        const int8_t axis =
            NormalizeAxis("roll", (*axes)[one_axis ? 0 : static_cast<int64_t>(k)], x.ndim());
        const int64_t n = x.shape()[axis];
        if (n == 0) continue;
        total[axis] = (total[axis] + shifts[one_shift ? 0 : k] % n + n) % n;
    }
    return x.GetTotalSize() == 0 ? Copy(x) : RollBy(x, total);
}

}  // namespace chainerx
