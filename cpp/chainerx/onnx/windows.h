// The windows of convolutions and poolings: sizes, strides, dilations and pads per spatial axis.
#pragma once

#include <cstdint>

#include "chainerx/core/dims.h"
#include "chainerx/onnx/call.h"

namespace chainerx::onnx {

struct Windows {
    Shape size;
    Shape stride;
    Shape dilation;
    Shape before;  // pads
    Shape after;
    bool is_ceil{false};

    // The length of an axis of the output.
    int64_t OutputLength(int8_t axis, int64_t length) const;
    // The positions that a window spans.
    int64_t Extent(int8_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
};

// Reads an attribute with a number per axis, from `least` to 2^31.
Shape ReadPerAxis(const Call& call, const char* name, int64_t n, int64_t fallback, int64_t least);
// Reads the attributes, for windows of this size over x, whose first two axes are batch and
// channels. DimensionError if they are not one per axis, or the windows do not fit.
Windows ReadWindows(const Call& call, const Shape& x, const Shape& size);
// The attribute kernel_shape, or `fallback`.
Shape KernelShape(const Call& call, const Shape& x, const Shape& fallback = {});

}  // namespace chainerx::onnx
