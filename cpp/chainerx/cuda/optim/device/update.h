// An optimizer's step. The host writes Row, with the statements of CX_UPDATE.
#pragma once

#include "chainerx/cuda/device/block.h"
#include "chainerx/cuda/device/lists.h"
#include "chainerx/cuda/optim/params.h"
#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::cuda {

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) UpdatePack {
    T v[kWidth];
};

// Loads elements first, ..., first + kWidth - 1 of which `left` exist; stores are the same.
template <typename T, int kWidth>
inline void LoadPack(const T* from, bool is_whole, int64_t left, UpdatePack<T, kWidth>& x) {
    if (is_whole) {
        x = *reinterpret_cast<const UpdatePack<T, kWidth>*>(from);
        return;
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x.v[j] = j < left ? from[j] : T(0);
}
template <typename T, int kWidth>
inline void StorePack(T* to, bool is_whole, int64_t left, const UpdatePack<T, kWidth>& x) {
    if (is_whole) {
        *reinterpret_cast<UpdatePack<T, kWidth>*>(to) = x;
        return;
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        if (j < left) to[j] = x.v[j];
    }
}

template <typename Row, typename T, int kStates>
inline void Update(const UpdateParams<kStates>& p) {
    using B = xsimd::batch<T>;
    constexpr int kWidth = kUpdateBytes / sizeof(T);
    using Pack = UpdatePack<T, kWidth>;
    const UpdatedArray<kStates>& array = p.arrays[FindArray(p)];
    const int64_t block = blockIdx.x - array.first_block;
    const int64_t first = (block * kBlockThreads + threadIdx.x) * kWidth;
    const int64_t left = array.size - first;
    if (left <= 0) return;

    T* param = At<T>(array.param) + first;
    const T* grad = At<const T>(array.grad) + first;
    T* states[kStates + 1] = {};
    auto addresses = reinterpret_cast<uintptr_t>(param) | reinterpret_cast<uintptr_t>(grad);
    if constexpr (kStates > 0) {
#pragma unroll
        for (int k = 0; k < kStates; ++k) {
            states[k] = At<T>(array.states[k]) + first;
            addresses |= reinterpret_cast<uintptr_t>(states[k]);
        }
    }
    const bool is_whole = left >= kWidth && addresses % kUpdateBytes == 0;

    double numbers[Row::kNumbers];
#pragma unroll
    for (int k = 0; k < Row::kNumbers; ++k) numbers[k] = p.numbers[k];
    Pack x;
    Pack g;
    Pack s[3];
    LoadPack(param, is_whole, left, x);
    LoadPack(grad, is_whole, left, g);
#pragma unroll
    for (int k = 0; k < kStates; ++k) LoadPack(states[k], is_whole, left, s[k]);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        B bp = x.v[j];
        B bs[3];
#pragma unroll
        for (int k = 0; k < kStates; ++k) bs[k] = s[k].v[j];
        Row::template Apply<B>(bp, g.v[j], bs[0], bs[1], bs[2], numbers);
        x.v[j] = bp.v;
#pragma unroll
        for (int k = 0; k < kStates; ++k) s[k].v[j] = bs[k].v;
    }
    StorePack(param, is_whole, left, x);
#pragma unroll
    for (int k = 0; k < kStates; ++k) StorePack(states[k], is_whole, left, s[k]);
}

}  // namespace chainerx::cuda
