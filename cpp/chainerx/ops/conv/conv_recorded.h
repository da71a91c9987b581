// Convolution and its two gradients, each the gradient of the other two, of arguments that are
// known to fit. `shape` is that of the result, and a bias that is null there is none of.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::internal {

Array RecordedConv(const Array& x, const Array& w, const Array* b, const ConvGeometry& geometry,
                   const Shape& shape);
// In the input.
Array RecordedConvTranspose(const Array& gy, const Array& w, const Array* b,
                            const ConvGeometry& geometry, const Shape& shape);
Array RecordedConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                             const Shape& shape);

}  // namespace chainerx::internal
