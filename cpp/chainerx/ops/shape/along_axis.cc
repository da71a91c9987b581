#include "chainerx/ops/shape/along_axis.h"

#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// Returns the permutation that moves `axis` to the end; FromLast is its inverse.
Axes LastOrder(int8_t ndim, int8_t axis) {
    Axes order;
    for (int8_t i = 0; i < ndim; ++i) {
        if (i != axis) order.push_back(i);
    }
    order.push_back(axis);
    return order;
}

Array ToLast(const Array& x, int8_t axis) {
    return axis == x.ndim() - 1 ? x : Permute(x, LastOrder(x.ndim(), axis));
}

Array FromLast(const Array& x, int8_t axis) {
    if (axis == x.ndim() - 1) return x;
    Axes order;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        order.push_back(static_cast<int8_t>(i < axis ? i : i == axis ? x.ndim() - 1 : i - 1));
    }
    return Permute(x, order);
}

Shape LastShape(const Shape& shape, int8_t axis) {
    Shape last = shape;
    last.erase(axis);
    last.push_back(shape[axis]);
    return last;
}

// Converts indices within rows of `length` elements to flat indices into all rows.
Array FlatPlaces(const Array& places, int64_t length, int8_t axis) {
    const Array last = AsContiguous(ToLast(Detached(places), axis));
    const int64_t width = last.shape()[last.ndim() - 1];
    const int64_t size = last.GetTotalSize();
    const int64_t rows = width == 0 ? 0 : size / width;
    if (rows <= 1) return Reshape(last, {size});
    const Array starts = Multiply(Arange(rows, Dtype::kInt64, places.device()), Scalar{length});
    return Reshape(Add(Reshape(last, {rows, width}), Reshape(starts, {rows, 1})), {size});
}

}  // namespace

Array PartAlong(const Array& x, int8_t axis, int64_t begin, std::optional<int64_t> end) {
    std::vector<ArrayIndex> index(static_cast<size_t>(axis), Slice{});
    index.emplace_back(Slice{begin, end, 1});
    return At(x, index);
}

Array WithLeadingAxes(const Array& x, int64_t ndim) {
    Axes lead;
    for (int64_t i = 0; i < ndim - x.ndim(); ++i) lead.push_back(static_cast<int8_t>(i));
    return lead.empty() ? x : ExpandDims(x, lead);
}

Array Join(const std::vector<Array>& parts, int8_t axis, const char* op) {
    const std::vector<ConstArrayRef> refs{parts.begin(), parts.end()};
    return Concatenate(refs, axis, op);
}

Array ToRows(const Array& x, int8_t axis) {
    const Array last = AsContiguous(ToLast(Detached(x), axis));
    const int64_t n = x.shape()[axis];
    return Reshape(last, {x.GetTotalSize() / n, n});
}

Array FromRows(const Array& rows, const Shape& shape, int8_t axis) {
    return AsContiguous(FromLast(Reshape(rows, LastShape(shape, axis)), axis));
}

Shape WithLength(const Shape& shape, int8_t axis, int64_t length) {
    Shape y = shape;
    y[axis] = length;
    return y;
}

Array ScatterAlong(const Array& gy, const Array& places, int64_t length, int8_t axis) {
    const Shape shape = WithLength(gy.shape(), axis, length);
    const Array line = Reshape(ToLast(gy, axis), {gy.GetTotalSize()});
    const Array flat = FlatPlaces(places, length, axis);
    const Array gx = TakeGrad(line, {shape.GetTotalSize()}, 0, flat, IndexBoundsMode::kRaise);
    return FromLast(Reshape(gx, LastShape(shape, axis)), axis);
}

}  // namespace chainerx::internal
