// Computes with batches of one lane, as native does for floats.
#pragma once

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::cuda {

struct AsBatches {
    template <typename T>
    using Compute = xsimd::batch<Number<T>>;
    template <typename T>
    static Compute<T> Load(const T& x) {
        return static_cast<Number<T>>(x);
    }
    template <typename Out, typename C>
    static Out Store(const C& y) {
        return static_cast<Out>(y.v);
    }
};

}  // namespace chainerx::cuda
