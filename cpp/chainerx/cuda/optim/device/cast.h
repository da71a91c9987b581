// Casts of many arrays.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/lists.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/optim/params.h"

namespace chainerx::cuda {

template <typename T, typename Out>
inline void CastAll(const CastParams& p) {
    const CastArray& array = p.arrays[FindArray(p)];
    const int64_t block = blockIdx.x - array.first_block;
    const int64_t first = block * kBlockThreads * kCastItems + threadIdx.x;
    const T* const x = At<const T>(array.x);
    Out* const out = At<Out>(array.out);
#pragma unroll
    for (int k = 0; k < kCastItems; ++k) {
        const int64_t i = first + k * kBlockThreads;
        if (i >= array.size) return;
        const Number<T> value = AsNumbers::Load(x[i]);
        if (p.keeps && AsNumbers::Load(AsNumbers::Store<T>(AsNumbers::Load(out[i]))) == value) {
            continue;
        }
        out[i] = AsNumbers::Store<Out>(value);
    }
}

}  // namespace chainerx::cuda
