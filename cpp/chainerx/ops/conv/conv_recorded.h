// Convolution and its two gradients, each the gradient of the other two. The arguments have been
// checked. `shape` is that of the result; a null bias means none.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"
#include "chainerx/ops/conv/conv.h"

namespace chainerx::internal {

Array RecordedConv(const Array& x, const Array& w, const Array* b, const ConvGeometry& geometry,
                   const Shape& shape);
// Runs the kernel of a layer; null where there is none, or in a graph.
Array TryConvLayer(const Array& x, const Array& w, const Array* b, const ConvEnd& end,
                   const ConvGeometry& geometry, const Shape& shape);
// The gradient in the input.
Array RecordedConvTranspose(const Array& gy, const Array& w, const Array* b,
                            const ConvGeometry& geometry, const Shape& shape);
Array RecordedConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                             const Shape& shape);

}  // namespace chainerx::internal
