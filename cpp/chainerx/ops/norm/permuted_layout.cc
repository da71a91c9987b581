#include "chainerx/ops/norm/permuted_layout.h"

#include <algorithm>

#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

Axes Natural(int8_t ndim) {
    Axes axes;
    for (int8_t i = 0; i < ndim; ++i) axes.push_back(i);
    return axes;
}

bool Contains(const Axes& axes, int8_t axis) { return std::ranges::find(axes, axis) != axes.end(); }

// Returns the axes in the order of memory if there are no gaps; else empty.
Axes MemoryOrder(const Array& x) {
    Axes axes = Natural(x.ndim());
    const Strides& strides = x.strides();
    std::stable_sort(axes.begin(), axes.end(),
                     [&](int8_t a, int8_t b) { return strides[a] > strides[b]; });
    int64_t step = x.GetItemSize();
    for (int8_t i = x.ndim() - 1; i >= 0; --i) {
        const int64_t size = x.shape()[axes[i]];
        if (size == 1) continue;
        if (strides[axes[i]] != step) return {};
        step *= size;
    }
    return axes;
}

Shape Ordered(const Shape& shape, const Axes& order) {
    Shape ordered;
    for (int8_t a : order) ordered.push_back(shape[a]);
    return ordered;
}

// Views x as (n, c, s) in that order of axes, if the channels are adjacent and in the order of
// their axes.
bool IsByChannel(const Shape& x, const Axes& reduced, const Axes& order, Arrangement* to) {
    to->order = order;
    to->ordered = Ordered(x, order);
    to->shape = Shape{1, 1, 1};
    int part = 0;
    int8_t last = -1;
    for (int8_t a : order) {
        if (x[a] == 1) continue;
        const bool is_channel = !Contains(reduced, a);
        if (is_channel && (part == 2 || a < last)) return false;
        if (is_channel) {
            part = 1;
            last = a;
        } else if (part == 1) {
            part = 2;
        }
        to->shape[part] *= x[a];
    }
    return true;
}

// Returns `axes` in their order, before the others if `first`, else behind them.
Axes Behind(const Axes& axes, int8_t ndim, bool first) {
    Axes order;
    for (const bool chosen : {first, !first}) {
        for (int8_t a = 0; a < ndim; ++a) {
            if (Contains(axes, a) == chosen) order.push_back(a);
        }
    }
    return order;
}

}  // namespace

Array Arrangement::View(const Array& x) const {
    return Reshape(order.empty() ? x : Transpose(x, order), shape);
}

Array Arrangement::Undo(const Array& y) const {
    const Array whole = Reshape(y, ordered);
    if (order.empty()) return whole;
    Axes inverse = order;
    for (int8_t i = 0; i < order.ndim(); ++i) inverse[order[i]] = i;
    return Transpose(whole, inverse);
}

Array Arrangement::Contiguous(const Array& x) const { return AsContiguous(View(Detached(x))); }

Arrangement ByChannel(const Array& x, const Axes& reduced) {
    Arrangement to;
    if (!x.IsContiguous()) {
        const Axes in_memory = MemoryOrder(x);
        if (in_memory.ndim() == x.ndim() && IsByChannel(x.shape(), reduced, in_memory, &to)) {
            return to;
        }
    }
    if (IsByChannel(x.shape(), reduced, Natural(x.ndim()), &to)) {
        to.order.clear();
    } else {
        IsByChannel(x.shape(), reduced, Behind(reduced, x.ndim(), true), &to);
    }
    return to;
}

Arrangement ByRow(const Array& x, const Axes& reduced) {
    int64_t length = 1;
    for (int8_t a : reduced) length *= x.shape()[a];
    int64_t rows = 1;
    for (int8_t a = 0; a < x.ndim(); ++a) {
        if (!Contains(reduced, a)) rows *= x.shape()[a];
    }
    Axes order = Behind(reduced, x.ndim(), false);
    const Shape ordered = Ordered(x.shape(), order);
    if (std::ranges::is_sorted(order)) order.clear();
    return {order, ordered, Shape{rows, 1, length, 1}};
}

Arrangement ByGroup(const Array& x, int64_t groups) {
    int64_t s = 1;
    for (int8_t a = 2; a < x.ndim(); ++a) s *= x.shape()[a];
    return {{}, x.shape(), Shape{x.shape()[0], groups, x.shape()[1] / groups, s}};
}

}  // namespace chainerx::internal
