// Large convolutions by cuDNN.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/cuda/conv/cudnn_graph.h"
#include "chainerx/kernels/conv/conv_geometry.h"

namespace chainerx::cuda {

// y = x * w, or the gradient that the pass computes from the two others, plus the bias of the
// channels of the result unless it is null or empty. Returns false if the library is not there, is
// not wanted, or has no way for it.
bool TryLibraryConv(ConvPass pass, const Array& x, const Array& w, const Array& y,
                    const ConvGeometry& geometry, const Array* bias);

}  // namespace chainerx::cuda
