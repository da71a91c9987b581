// Products of large matrices by cuBLASLt.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

// What follows a product.
enum class ProductEnd : int8_t {
    kNone,
    kAddsBias,
    kRectifies,  // after the bias is added
    kSumsRows,   // of x1: they become the bias
};

// out = x1 x2, and what follows. Returns false if the library is not there, has no way for these
// operands, or the product is too small; the sizes and strides are in `params`.
bool TryLibraryProduct(const GemmParams& params, const Array& x1, const Array& x2,
                       const Array* bias, const Array& out, ProductEnd end);

}  // namespace chainerx::cuda
