// Computes complex numbers in batches of one lane, as native does.
#pragma once

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/native/math/simd/math_complex.h"

namespace chainerx::cuda {

struct AsComplexBatches {
    template <typename T>
    using Compute = native::gpu::ComplexBatch<typename T::value_type>;
    template <typename T>
    static Compute<T> Load(const T& z) {
        return {z.real(), z.imag()};
    }
    template <typename Out, typename R>
    static Out Store(const native::gpu::ComplexBatch<R>& y) {
        return Out(y.real.v, y.imag.v);
    }
    template <typename Out, typename R>
    static Out Store(const xsimd::batch<R>& y) {
        return y.v;
    }
};

}  // namespace chainerx::cuda
