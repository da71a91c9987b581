#include "chainerx/ops/channel_layout.h"

#include <algorithm>
#include <cstdlib>

#include "chainerx/ops/creation.h"
#include "chainerx/ops/view.h"

namespace chainerx::internal {
namespace {

Axes Natural(int8_t ndim) {
    Axes axes;
    for (int8_t i = 0; i < ndim; ++i) axes.push_back(i);
    return axes;
}

// The order in which the axes lie in memory, if there are no gaps; else empty.
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

}  // namespace

ChannelLayout::ChannelLayout(const Array& x, const Axes& reduced) {
    const Axes natural = Natural(x.ndim());
    if (!x.IsContiguous()) {
        const Axes in_memory = MemoryOrder(x);
        if (in_memory.ndim() == x.ndim() && TryOrder(x.shape(), reduced, in_memory)) return;
    }
    if (TryOrder(x.shape(), reduced, natural)) {
        order.clear();
        return;
    }
    Axes behind = reduced;
    for (int8_t a : natural) {
        if (std::ranges::find(reduced, a) == reduced.end()) behind.push_back(a);
    }
    TryOrder(x.shape(), reduced, behind);
}

// Succeeds where channels stand together, in the order of their axes.
bool ChannelLayout::TryOrder(const Shape& x, const Axes& reduced, const Axes& axes) {
    order = axes;
    ordered.clear();
    shape = Shape{1, 1, 1};
    int part = 0;
    int8_t last = -1;
    for (int8_t a : axes) {
        ordered.push_back(x[a]);
        if (x[a] == 1) continue;
        const bool is_channel = std::ranges::find(reduced, a) == reduced.end();
        if (is_channel && (part == 2 || a < last)) return false;
        if (is_channel) {
            part = 1;
            last = a;
        } else if (part == 1) {
            part = 2;
        }
        shape[part] *= x[a];
    }
    return true;
}

Array ChannelLayout::ToChannels(const Array& x) const {
    if (order.empty()) return Reshape(AsContiguous(Detached(x)), shape);
    return Reshape(AsContiguous(Transpose(Detached(x), order)), shape);
}

Array ChannelLayout::FromChannels(const Array& y) const {
    const Array whole = Reshape(y, ordered);
    if (order.empty()) return whole;
    Axes inverse = order;
    for (int8_t i = 0; i < order.ndim(); ++i) inverse[order[i]] = i;
    return Transpose(whole, inverse);
}

}  // namespace chainerx::internal
