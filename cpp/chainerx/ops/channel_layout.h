// Arrays by channel: the axes of an array in two kinds, those that statistics are taken over, and
// the others, whose places are the channels.
#pragma once

#include "chainerx/core/array.h"

namespace chainerx::internal {

// How an array is seen as (n, c, s), contiguous, where c runs over the channels. Where the memory
// of the array allows it, that is a view, also of a transposed array.
struct ChannelLayout {
    Axes order;     // of the axes; empty for the order that they have
    Shape ordered;  // the shape in that order
    Shape shape;    // (n, c, s)

    // `reduced` are sorted.
    ChannelLayout(const Array& x, const Axes& reduced);

    // Of an array of the same shape; outside all graphs. A copy if need be.
    Array ToChannels(const Array& x) const;
    // The other way; a view.
    Array FromChannels(const Array& y) const;

 private:
    bool TryOrder(const Shape& x, const Axes& reduced, const Axes& axes);
};

}  // namespace chainerx::internal
