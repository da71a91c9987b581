#include "chainerx/ops/shape/concat_views.h"

#include <optional>

#include "chainerx/core/buffer.h"
#include "chainerx/ops/elementwise/layout.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/manipulation.h"

namespace chainerx::internal {
namespace {

// Returns whether y begins on `axis` where x ends, as for adjacent parts of an array.
bool IsNext(const Array& x, const Array& y, int8_t axis) {
    if (x.buffer() != y.buffer() || x.dtype() != y.dtype() || x.ndim() != y.ndim()) return false;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (i != axis && x.shape()[i] != y.shape()[i]) return false;
        if (x.strides()[i] != y.strides()[i]) return false;
    }
    return y.raw_data() == x.raw_data() + x.shape()[axis] * x.strides()[axis];
}

// Returns the axis on which y begins where x ends; the last axis is for adjacent elements of a row.
std::optional<int8_t> FindAxis(const Array& x, const Array& y) {
    if (x.GetTotalSize() == 0 || y.GetTotalSize() == 0) return std::nullopt;
    for (int8_t axis = 0; axis < x.ndim() - 1; ++axis) {
        if (x.strides()[axis] != 0 && IsNext(x, y, axis)) return axis;
    }
    return std::nullopt;
}

Array PartOf(const Array& whole, const Shape& shape, int8_t axis, int64_t begin) {
    return MakeView(whole, shape, whole.strides(),
                    whole.raw_data() + begin * whole.strides()[axis]);
}

// Returns whether only the caller has the array, and it is in no graph.
bool IsOwn(const Array& x) {
    const ArrayBody* b = x.body();
    return b->IsSole() && b->slot == nullptr && b->python == nullptr && !b->read_only;
}

}  // namespace

Array EmptyRowsLike(const Array& x) {
    bool is_broadcast = false;
    for (int8_t i = 0; i < x.ndim() - 1; ++i) {
        is_broadcast |= x.shape()[i] > 1 && x.strides()[i] == 0;
    }
    if (!is_broadcast && x.strides().back() == x.GetItemSize()) {
        const Array y = EmptyResult(x, x.dtype());
        if (y.strides().back() == y.GetItemSize()) return y;
    }
    return EmptyUnchecked(x.shape(), x.dtype(), x.device());
}

std::vector<Array> EmptyPartsLike(std::span<const Array> xs) {
    std::vector<Array> out;
    while (out.size() < xs.size()) {
        const size_t first = out.size();
        size_t end = first + 1;
        std::optional<int8_t> axis;
        if (end < xs.size()) axis = FindAxis(xs[first], xs[end]);
        if (!axis) {
            out.push_back(EmptyRowsLike(xs[first]));
            continue;
        }
        int64_t length = xs[first].shape()[*axis];
        do {
            length += xs[end].shape()[*axis];
            ++end;
        } while (end < xs.size() && IsNext(xs[end - 1], xs[end], *axis));
        const Array& x = xs[first];
        const Array whole = EmptyRowsLike(
            MakeView(x, WithLength(x.shape(), *axis, length), x.strides(), x.raw_data()));
        int64_t begin = 0;
        for (size_t k = first; k < end; ++k) {
            out.push_back(PartOf(whole, xs[k].shape(), *axis, begin));
            begin += xs[k].shape()[*axis];
        }
    }
    return out;
}

Array JoinOutputGrads(GradContext& context, int8_t axis) {
    const int n = context.output_count();
    const Array& first = context.output_grad(0);
    // The parts must be the only references to the memory, so that nobody sees it twice.
    bool is_one = n > 1 && first.GetTotalSize() != 0 && IsOwn(first) &&
                  first.buffer()->use_count() == static_cast<uint32_t>(n);
    int64_t length = first.shape()[axis];
    for (int i = 1; i < n && is_one; ++i) {
        const Array& x = context.output_grad(i);
        is_one = IsOwn(x) && IsNext(context.output_grad(i - 1), x, axis);
        length += x.shape()[axis];
    }
    if (is_one) {
        return MakeView(first, WithLength(first.shape(), axis, length), first.strides(),
                        first.raw_data());
    }
    std::vector<ConstArrayRef> gys;
    for (int i = 0; i < n; ++i) gys.emplace_back(context.output_grad(i));
    return Concatenate(gys, axis);
}

}  // namespace chainerx::internal
