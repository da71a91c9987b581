// Rotary embedding: a pair of numbers a thread.
#pragma once

#include <cstdint>

#include "chainerx/cuda/attention/params.h"
#include "chainerx/cuda/device/numbers.h"

namespace chainerx::cuda {

template <typename T>
inline void RotatePairs(const RotaryParams& p) {
    using C = Number<T>;
    const int64_t i = ThreadNumber();
    if (i >= p.total) return;
    int64_t row = i / p.n;
    const int64_t pair = i - row * p.n;
    T* const out = At<T>(p.out) + 2 * row * p.n;
    const char* at[3] = {p.in[0], p.in[1], p.in[2]};
    for (int d = p.ndim - 1; d >= 0; --d) {
        const int64_t k = row % p.sizes[d];
        row /= p.sizes[d];
        for (int o = 0; o < 3; ++o) at[o] += k * p.strides[o][d];
    }
    const T* const x = reinterpret_cast<const T*>(at[0]) + p.across * pair;
    const C cos = reinterpret_cast<const C*>(at[1])[pair];
    const C sin = reinterpret_cast<const C*>(at[2])[pair];
    const C a = static_cast<C>(x[0]);
    const C b = static_cast<C>(x[p.gap]);
    out[p.across * pair] = static_cast<T>(a * cos - b * sin);
    out[p.across * pair + p.gap] = static_cast<T>(b * cos + a * sin);
}

}  // namespace chainerx::cuda
