// Which elements of the input an output of a pooling sees.
#pragma once

#include <cstdint>

#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx {

// Output i of an axis sees the `size` positions from i * stride - pad on. With stride 0 the windows
// divide the axis instead: those from floor(i * in / out) to ceil((i + 1) * in / out), of which
// there are never more than `size`. Positions outside of the input are padding, which is nobody's
// maximum. Elements of a window are numbered in C order over `size`.
struct PoolWindow {
    int64_t size[kMaxSpatial];  // for each spatial axis, as the two below
    int64_t stride[kMaxSpatial];
    int64_t pad[kMaxSpatial];  // before the first element
};

// What the sum of a window is divided by.
enum class PoolDivisor : int8_t {
    kOne,
    kWindow,  // its elements, padding included
    kInside   // those inside of the input, at least 1
};

}  // namespace chainerx
