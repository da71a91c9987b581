// The shape of arrays (..., rows, columns): batches of matrices.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx {

inline int64_t Rows(const Array& a) { return a.shape()[a.ndim() - 2]; }
inline int64_t Columns(const Array& a) { return a.shape()[a.ndim() - 1]; }
inline int64_t CountMatrices(const Array& a) {
    int64_t count = 1;
    for (int8_t i = 0; i < a.ndim() - 2; ++i) count *= a.shape()[i];
    return count;
}

}  // namespace chainerx
