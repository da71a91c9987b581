// col2im: input gradients most of whose windows would reach beyond gy. One product computes the
// column matrix, which is then added to gx element by element.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::native {

// Returns whether col2im beats the implicit GEMM; a function of the shapes alone.
bool IsForScatter(const Shape& gx, const Shape& w, const Shape& gy, const ConvGeometry& geometry);

// Adds the input gradient to gx. All arrays are contiguous and of type T.
template <typename T>
void RunScatterConv(const Array& gy, const Array& w, const ConvGeometry& geometry, const Array& gx);

}  // namespace chainerx::native
