// Convolutions of a batch of small images with the images as last axis: the columns of a panel are
// then one position of many images, and what is padding for one of them is so for all, and is left
// out. To the convolution it is one image with one axis more.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::native {

// Whether that is faster: a function of the shapes alone.
bool IsForBatchLast(const Shape& x, const Shape& w, const Shape& y, const ConvGeometry& geometry);

// x[begin:end] with the images behind the last axis, as one image.
Array BatchLast(const Array& x, int64_t begin, int64_t end);

// Weights, and the geometry of `ndim` axes, with another axis, along which nothing but the position
// counts.
Array WithPlainAxis(const Array& w);
ConvGeometry WithPlainAxis(const ConvGeometry& geometry, int ndim);

}  // namespace chainerx::native
