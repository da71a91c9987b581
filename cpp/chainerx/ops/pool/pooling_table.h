// Poolings composed of other routines, for backends without such kernels. They take the same
// arguments as the kernels of kernels/pool/pooling.def, outside all graphs.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/pool/pool_window.h"

namespace chainerx::internal {

// The identity of max: -inf, or the smallest integer.
Scalar SmallestOf(Dtype dtype);

// Writes `indices` unless its length is 0.
void MaxPoolByTable(const Array& x, const PoolWindow& window, const Array& y, const Array& indices);
Array PoolScatterByTable(const char* op, const Array& gy, const Array& indices,
                         const PoolWindow& window, const Shape& shape);
Array PoolGatherByTable(const char* op, const Array& x, const Array& indices,
                        const PoolWindow& window);
Array SumPoolByTable(const Array& x, const PoolWindow& window, PoolDivisor divisor,
                     const Shape& shape);
Array SumPoolGradByTable(const Array& gy, const PoolWindow& window, PoolDivisor divisor,
                         const Shape& shape);

}  // namespace chainerx::internal
