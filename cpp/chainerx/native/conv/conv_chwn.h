// Convolution of many small images in CHWN layout (batch innermost): the columns of a panel are one
// output position of many images, so a tap that falls on padding does so for the whole panel and is
// skipped. The convolution sees one image with an extra spatial axis.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::native {

// Returns whether CHWN is faster; a function of the shapes alone.
bool IsForBatchLast(const Shape& x, const Shape& w, const Shape& y, const ConvGeometry& geometry);

// Returns x[begin:end] in CHWN layout, as one image with an extra axis.
Array BatchLast(const Array& x, int64_t begin, int64_t end);

// Appends a spatial axis of one tap, stride 1 and no padding to weights, or to the geometry of
// `ndim` axes.
Array WithPlainAxis(const Array& w);
ConvGeometry WithPlainAxis(const ConvGeometry& geometry, int ndim);

}  // namespace chainerx::native
