// Helpers of the pooling kernels.
#pragma once

#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/pool/pooling_loops.h"

namespace chainerx::native {

const PoolLoops& pooling_loops();  // of the chosen instruction set

template <typename T>
T* PoolData(const Array& x) {
    return reinterpret_cast<T*>(x.raw_data());
}

// Upcasts 16-bit floats: calls f(input, output) on float32 copies.
void PoolInFloat32(const Array& x, const Array& y, const auto& f) {
    const Array wide_x = EmptyUnchecked(x.shape(), Dtype::kFloat32, x.device());
    const Array wide_y = EmptyUnchecked(y.shape(), Dtype::kFloat32, y.device());
    CallOn<kernels::AsType>(x.device(), x, wide_x);
    f(wide_x, wide_y);
    CallOn<kernels::AsType>(y.device(), wide_y, y);
}

}  // namespace chainerx::native
