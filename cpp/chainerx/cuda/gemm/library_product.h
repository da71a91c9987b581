// Products of large matrices by cuBLASLt.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

// out = x1 x2, plus the bias unless it is null. Returns false if the library is not there, or has
// no way for these operands; the sizes and strides are in `params`.
bool TryLibraryProduct(const GemmParams& params, const Array& x1, const Array& x2,
                       const Array* bias, const Array& out);

}  // namespace chainerx::cuda
