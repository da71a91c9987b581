// The geometry of convolution windows.
#pragma once

#include <cstdint>

#include "chainerx/core/dims.h"

namespace chainerx {

inline constexpr int kMaxSpatial = kMaxNdim - 2;

// Output position i of an axis reads the input positions i * stride - pad + t * dilate, where t
// counts the elements of the window along the axis. Positions outside of the input are padding; the
// amount after the end follows from the shapes.
struct ConvGeometry {
    int64_t groups{1};
    int64_t stride[kMaxSpatial]{};  // for each spatial axis, as the two below
    int64_t pad[kMaxSpatial]{};     // before the first element
    int64_t dilate[kMaxSpatial]{};

    bool operator==(const ConvGeometry&) const = default;
};

}  // namespace chainerx
