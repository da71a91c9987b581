// Batches of contiguous matrices, for kernels that factor or decompose arrays.
#pragma once

#include <complex>
#include <cstdint>

#include "chainerx/core/array.h"

namespace chainerx::native {

inline int64_t Rows(const Array& a) { return a.shape()[a.ndim() - 2]; }
inline int64_t Columns(const Array& a) { return a.shape()[a.ndim() - 1]; }

inline int64_t CountMatrices(const Array& a) {
    int64_t count = 1;
    for (int8_t i = 0; i < a.ndim() - 2; ++i) count *= a.shape()[i];
    return count;
}

template <typename T>
T* Data(const Array& a) {
    return reinterpret_cast<T*>(a.raw_data());
}

// Calls f<T>() for float32, float64, complex64 or complex128.
void InPrecision(Dtype dtype, const auto& f) {
    if (dtype == Dtype::kFloat32) {
        f.template operator()<float>();
    } else if (dtype == Dtype::kFloat64) {
        f.template operator()<double>();
    } else if (dtype == Dtype::kComplex64) {
        f.template operator()<std::complex<float>>();
    } else {
        f.template operator()<std::complex<double>>();
    }
}

}  // namespace chainerx::native
