// Gradients of the input most of whose windows would reach beyond the gradient of the output: all
// that each of its positions adds, as one product, and then to where it belongs.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::native {

// Whether that is faster than to gather: a function of the shapes alone.
bool IsForScatter(const Shape& gx, const Shape& w, const Shape& gy, const ConvGeometry& geometry);

// gx += the gradient of the input. All are contiguous and of type T.
template <typename T>
void RunScatterConv(const Array& gy, const Array& w, const ConvGeometry& geometry, const Array& gx);

}  // namespace chainerx::native
