// Copies what a Fourier transform reads or has written; a thread takes one number.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/signal/params.h"

namespace chainerx::cuda {

template <typename T>
inline void CopyRows(const RowsParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n) return;
    int64_t from = 0;
    int64_t to = 0;
    int64_t rest = i;
    for (int d = 0; d < p.ndim; ++d) {
        const int64_t next = rest / p.dims[d];
        from += (rest - next * p.dims[d]) * p.in_strides[d];
        to += (rest - next * p.dims[d]) * p.out_strides[d];
        rest = next;
    }
    const int64_t k = i % p.dims[0];
    const bool is_pair = k != 0 && 2 * k != p.change.length;
    const double scale = p.change.scale * (is_pair ? p.change.inside : 1);
    const T x = *reinterpret_cast<const T*>(static_cast<char*>(p.in) + from);
    T& y = *reinterpret_cast<T*>(static_cast<char*>(p.out) + to);
    if constexpr (kIsComplex<T>) {
        using R = typename T::value_type;
        const R imag = p.change.drops && !is_pair ? R(0) : x.imag() * static_cast<R>(scale);
        y = T(x.real() * static_cast<R>(scale), p.change.conjugates ? -imag : imag);
    } else {
        y = x * static_cast<T>(scale);
    }
}

}  // namespace chainerx::cuda
