// Elementwise kernels around the expression of a row of ops/elementwise/tables. The host writes the
// rest of a source (cuda/elementwise/source.cc): Row, whose Apply has the expression; Numbers, in
// which it computes; the dtypes; and which inputs are scalars.
#pragma once

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/elementwise/params.h"

namespace chainerx::cuda {

// Elements that are loaded or stored at once.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
    T v[kWidth];
};

// The pack from element `first` of `size` on. The last one is there in part: either way the same
// code computes it, for a long expression takes long to compile.
template <int kWidth, typename T>
inline Pack<T, kWidth> LoadPack(const T* in, int64_t first, int64_t size, bool is_whole) {
    in += first;
    Pack<T, kWidth> pack;
    if (is_whole) {
        pack = *reinterpret_cast<const Pack<T, kWidth>*>(in);
    } else {
#pragma unroll
        for (int j = 0; j < kWidth; ++j) pack.v[j] = in[first + j < size ? j : 0];
    }
    return pack;
}
template <typename T, int kWidth>
inline void StorePack(const Pack<T, kWidth>& pack, T* out, int64_t first, int64_t size,
                      bool is_whole) {
    out += first;
    if (is_whole) {
        *reinterpret_cast<Pack<T, kWidth>*>(out) = pack;
        return;
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        if (first + j < size) out[j] = pack.v[j];
    }
}

template <typename T>
inline const T& ValueOf(const ScalarBytes& scalar) {
    return *reinterpret_cast<const T*>(scalar.bytes);
}

template <typename Row, typename C>
inline auto Apply(const C (&x)[1]) {
    return Row::Apply(x[0]);
}
template <typename Row, typename C>
inline auto Apply(const C (&x)[2]) {
    return Row::Apply(x[0], x[1]);
}
template <typename Row, typename C>
inline auto Apply(const C (&x)[3]) {
    return Row::Apply(x[0], x[1], x[2]);
}

// All operands are contiguous and aligned to their packs, or scalars. A thread computes one pack.
template <typename Row, typename Numbers, typename T, typename Out, unsigned kScalarMask,
          int kInputs>
inline void ComputeContiguous(const ElementwiseParams<kInputs>& p) {
    constexpr int kWidth = 16 / (sizeof(T) > sizeof(Out) ? sizeof(T) : sizeof(Out));
    using C = typename Numbers::template Compute<T>;
    const int64_t first = ThreadNumber() * kWidth;
    if (first >= p.size) return;
    const bool is_whole = first + kWidth <= p.size;

    Pack<T, kWidth> packs[kInputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) {
        if ((kScalarMask >> k & 1) != 0) continue;
        packs[k] = LoadPack<kWidth>(At<const T>(p.in[k]), first, p.size, is_whole);
    }
    Pack<Out, kWidth> y;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        C x[kInputs];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) {
            x[k] = Numbers::Load((kScalarMask >> k & 1) != 0 ? ValueOf<T>(p.scalars[k])
                                                             : packs[k].v[j]);
        }
        y.v[j] = Numbers::template Store<Out>(Apply<Row>(x));
    }
    StorePack(y, At<Out>(p.out), first, p.size, is_whole);
}

// Any strides. `Index` is uint32_t below 2^31 elements.
template <typename Row, typename Numbers, typename T, typename Out, typename Index, int kInputs>
inline void ComputeStrided(const StridedParams<kInputs>& p) {
    using C = typename Numbers::template Compute<T>;
    const Index first =
        static_cast<Index>(blockIdx.x) * (kBlockThreads * kStridedElements) + threadIdx.x;
    for (int u = 0; u < kStridedElements; ++u) {
        const Index i = first + u * kBlockThreads;
        if (i >= static_cast<Index>(p.size)) return;
        int64_t offsets[kInputs + 1] = {};
        Index rest = i;
        for (int d = 0; d < p.ndim; ++d) {
            const Index next = p.dims[d].Divide(rest);
            const auto at = static_cast<int64_t>(rest - next * static_cast<Index>(p.dims[d].size));
#pragma unroll
            for (int k = 0; k <= kInputs; ++k) offsets[k] += at * p.strides[k][d];
            rest = next;
        }
        C x[kInputs];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) {
            x[k] = (p.scalar_mask >> k & 1) != 0
                       ? Numbers::Load(ValueOf<T>(p.scalars[k]))
                       : Numbers::Load(*AtByte<const T>(p.in[k], offsets[k + 1]));
        }
        *AtByte<Out>(p.out, offsets[0]) = Numbers::template Store<Out>(Apply<Row>(x));
    }
}

}  // namespace chainerx::cuda
