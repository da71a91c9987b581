// The geometry of pooling windows.
#pragma once

#include <cstdint>

#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx {

// Output i of an axis reads the `size` positions from i * stride - pad on. With stride 0 the
// windows divide the axis instead (adaptive pooling): those from floor(i * in / out) to ceil((i +
// 1) * in / out), of which there are never more than `size`. Positions outside of the input are
// padding, which never is the maximum. Elements of a window are numbered in C order over `size`.
struct PoolWindow {
    int64_t size[kMaxSpatial]{};  // for each spatial axis, as the two below
    int64_t stride[kMaxSpatial]{};
    int64_t pad[kMaxSpatial]{};  // before the first element

    bool operator==(const PoolWindow&) const = default;
};

// The divisor of the sum of a window.
enum class PoolDivisor : int8_t {
    kOne,
    kWindow,  // its size, including padding
    kInside   // number of elements inside of the input, at least 1
};

}  // namespace chainerx
