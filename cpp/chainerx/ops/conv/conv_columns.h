// Convolutions by im2col and matrix products, for devices without convolution kernels.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::internal {

// The same arguments as the kernels Conv, ConvInputGrad and ConvWeightGrad. Only b may be empty.
void ConvByColumns(const char* op, const Array& x, const Array& w, const Array& b,
                   const ConvGeometry& geometry, const Array& y);
void ConvInputGradByColumns(const char* op, const Array& gy, const Array& w, const Array& b,
                            const ConvGeometry& geometry, const Array& gx);
void ConvWeightGradByColumns(const char* op, const Array& x, const Array& gy,
                             const ConvGeometry& geometry, const Array& gw);

// Sets y[n, c, ...] = b[c], or 0 if there is no b.
void FillWithBias(const Array& b, const Array& y);

}  // namespace chainerx::internal
