// Fills in the parameters of kernels that go over all elements of some arrays.
#pragma once

#include <cstdint>
#include <cstring>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/scalar.h"
#include "chainerx/cuda/elementwise/params.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::cuda {

inline void StoreScalar(const Scalar& scalar, Dtype dtype, ScalarBytes& bytes) {
    VisitDtype(dtype, [&]<typename T>() {
        const T value = scalar.To<T>();
        std::memcpy(bytes.bytes, &value, sizeof(T));
    });
}

inline bool IsAligned(const Array& x, int64_t nbytes) {
    return reinterpret_cast<uintptr_t>(x.raw_data()) % static_cast<uintptr_t>(nbytes) == 0;
}

// Broadcasts the arrays to `shape`, the output first; a scalar's is null.
template <int kInputs>
void SetStrides(StridedParams<kInputs>& params, const Shape& shape,
                const Array* const (&arrays)[kInputs + 1]) {
    char* const values[kInputs + 1] = {};
    const native::StridedIterator<kInputs + 1> iter{shape, arrays, values,
                                                    native::AxisOrder::kByStride};
    params.out = iter.data[0];
    for (int k = 0; k < kInputs; ++k) params.in[k] = iter.data[k + 1];
    params.ndim = iter.ndim;
    for (int d = 0; d < iter.ndim; ++d) {
        const int from = iter.ndim - 1 - d;  // fastest first
        params.dims[d] = MakeDivisor(iter.dims[from]);
        for (int k = 0; k <= kInputs; ++k) params.strides[k][d] = iter.strides[k][from];
    }
}

}  // namespace chainerx::cuda
