// Selects between two operands: moves elements of a size. The inputs are the condition, x, y.
#pragma once

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/elementwise/device/loops.h"

namespace chainerx::cuda {

template <typename T>
inline const T& Select(Bool8 condition, const T& x, const T& y) {
    return condition ? x : y;
}

// All arrays are contiguous and aligned to their packs; bits 1 and 2 of the mask mark scalars. A
// thread selects one pack.
template <typename T, unsigned kScalarMask>
inline void WhereContiguous(const ElementwiseParams<3>& p) {
    constexpr int kWidth = 16 / sizeof(T);
    const int64_t first = ThreadNumber() * kWidth;
    if (first >= p.size) return;
    const bool is_whole = first + kWidth <= p.size;
    const auto chosen = LoadPack<kWidth>(At<const Bool8>(p.in[0]), first, p.size, is_whole);
    Pack<T, kWidth> values[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        if ((kScalarMask >> (k + 1) & 1) == 0) {
            values[k] = LoadPack<kWidth>(At<const T>(p.in[k + 1]), first, p.size, is_whole);
            continue;
        }
#pragma unroll
        for (int j = 0; j < kWidth; ++j) values[k].v[j] = ValueOf<T>(p.scalars[k + 1]);
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        values[0].v[j] = Select(chosen.v[j], values[0].v[j], values[1].v[j]);
    }
    StorePack(values[0], At<T>(p.out), first, p.size, is_whole);
}

// Any strides. Only the chosen operand is read.
template <typename T, typename Index>
inline void WhereStrided(const StridedParams<3>& p) {
    const Index first =
        static_cast<Index>(blockIdx.x) * (kBlockThreads * kStridedElements) + threadIdx.x;
    for (int u = 0; u < kStridedElements; ++u) {
        const Index i = first + u * kBlockThreads;
        if (i >= static_cast<Index>(p.size)) return;
        int64_t offsets[4] = {};
        Index rest = i;
        for (int d = 0; d < p.ndim; ++d) {
            const Index next = p.dims[d].Divide(rest);
            const auto at = static_cast<int64_t>(rest - next * static_cast<Index>(p.dims[d].size));
#pragma unroll
            for (int k = 0; k < 4; ++k) offsets[k] += at * p.strides[k][d];
            rest = next;
        }
        T* out = AtByte<T>(p.out, offsets[0]);
        if (*AtByte<const uint8_t>(p.in[0], offsets[1]) != 0) {
            *out = (p.scalar_mask >> 1 & 1) != 0 ? ValueOf<T>(p.scalars[1])
                                                 : *AtByte<const T>(p.in[1], offsets[2]);
        } else {
            *out = (p.scalar_mask >> 2 & 1) != 0 ? ValueOf<T>(p.scalars[2])
                                                 : *AtByte<const T>(p.in[2], offsets[3]);
        }
    }
}

}  // namespace chainerx::cuda
