// Batches of contiguous matrices, for kernels that factor or decompose arrays.
#pragma once

#include <complex>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/kernels/linalg/matrix_batch.h"

namespace chainerx::native {

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
