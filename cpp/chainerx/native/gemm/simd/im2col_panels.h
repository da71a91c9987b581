// im2col packing: gathers rows of a panel from pieces of memory.
#pragma once

#include <cstdint>

#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {

template <typename T>
constexpr int kWidth = static_cast<int>(Batch<T>::size);

// Loads some lanes of a batch; the others are 0. It never touches memory of other lanes.
template <typename T>
struct LaneLoad {
    uint32_t lanes;
    bool all;
#if defined(CX_ISA_AVX2)
    __m256i mask;
#endif

    explicit LaneLoad(uint32_t lanes) : lanes{lanes}, all{lanes == (uint32_t{1} << kWidth<T>)-1} {
#if defined(CX_ISA_AVX2)
        if constexpr (sizeof(T) == 4) {
            const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            mask = _mm256_cmpeq_epi32(
                _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes)), bit), bit);
        } else {
            const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
            mask = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(lanes), bit), bit);
        }
#endif
    }

    Batch<T> operator()(const T* x) const {
#if defined(CX_ISA_AVX512)
        if constexpr (sizeof(T) == 4) {
            return _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), x);
        } else {
            return _mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), x);
        }
#elif defined(CX_ISA_AVX2)
        if constexpr (sizeof(T) == 4) {
            return _mm256_maskload_ps(x, mask);
        } else {
            return _mm256_maskload_pd(x, mask);
        }
#else
        if (all) return Batch<T>::load_unaligned(x);
        alignas(64) T part[kWidth<T>];
        for (int i = 0; i < kWidth<T>; ++i) part[i] = (lanes >> i & 1) != 0 ? x[i] : T{0};
        return Batch<T>::load_aligned(part);
#endif
    }
};

// Combines two loads; lanes that one did not load are zero there.
template <typename T>
Batch<T> Union(const Batch<T>& x, const Batch<T>& y) {
    return x | y;
}

// Stores the first lanes of a batch only.
template <int kLanes, typename T>
void StoreLanes(const Batch<T>& y, T* to) {
    if constexpr (kLanes == kWidth<T>) {
        y.store_unaligned(to);
    } else {
#if defined(CX_ISA_AVX512)
        if constexpr (sizeof(T) == 4) {
            _mm512_mask_storeu_ps(to, (1 << kLanes) - 1, y);
        } else {
            _mm512_mask_storeu_pd(to, (1 << kLanes) - 1, y);
        }
#else
        alignas(64) T all[kWidth<T>];
        y.store_aligned(all);
        __builtin_memcpy(to, all, kLanes * sizeof(T));
#endif
    }
}

template <int kLanes, int kN, typename T>
void GatherVector(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces, bool add,
                  T* to, int64_t step) {
    const LaneLoad<T> load[4] = {LaneLoad<T>{pieces[0].lanes}, LaneLoad<T>{pieces[1 % kN].lanes},
                                 LaneLoad<T>{pieces[2 % kN].lanes},
                                 LaneLoad<T>{pieces[3 % kN].lanes}};
    for (int64_t c = 0; c < count; ++c) {
        const T* from = x + c * plane;
        Batch<T> y = load[0](from + pieces[0].offset);
#pragma GCC unroll 4
        for (int i = 1; i < kN; ++i) y = Union(y, load[i](from + pieces[i].offset));
        if (add) y = Union(y, Batch<T>::load_unaligned(to + c * step));
        StoreLanes<kLanes>(y, to + c * step);
    }
}

// Gathers up to four pieces of one vector, added to the existing lanes if `add`.
template <int kLanes, typename T>
void GatherUpTo4(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces, int64_t n,
                 bool add, T* to, int64_t step) {
    switch (n) {
        case 1:
            return GatherVector<kLanes, 1>(x, plane, count, pieces, add, to, step);
        case 2:
            return GatherVector<kLanes, 2>(x, plane, count, pieces, add, to, step);
        case 3:
            return GatherVector<kLanes, 3>(x, plane, count, pieces, add, to, step);
        default:
            return GatherVector<kLanes, 4>(x, plane, count, pieces, add, to, step);
    }
}

// Gathers all pieces of one vector, of which kLanes lanes are written.
template <int kLanes, typename T>
void GatherPieces(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces, int64_t n,
                  T* to, int64_t step) {
    if (n == 0) {
        const Batch<T> zero{T{0}};
        for (int64_t c = 0; c < count; ++c) StoreLanes<kLanes>(zero, to + c * step);
        return;
    }
    if (n == 1 && LaneLoad<T>{pieces->lanes}.all) {
        const T* from = x + pieces->offset;
        for (int64_t c = 0; c < count; ++c) {
            StoreLanes<kLanes>(Batch<T>::load_unaligned(from + c * plane), to + c * step);
        }
        return;
    }
    for (int64_t i = 0; i < n; i += 4) {
        GatherUpTo4<kLanes>(x, plane, count, pieces + i, n - i < 4 ? n - i : 4, i != 0, to, step);
    }
}

// Gathers rows of kTo elements each. It reads up to one vector beyond the last row of the panel.
template <int kTo, typename T>
void GatherRows(const T* x, int64_t plane, int64_t count, const Im2colPiece* pieces,
                int64_t n_pieces, T* panel, int64_t step) {
    constexpr int kWhole = kTo / kWidth<T>;
    constexpr int kRest = kTo % kWidth<T>;
    const Im2colPiece* const end = pieces + n_pieces;
    const auto pieces_of = [&](int vector) {
        const Im2colPiece* last = pieces;
        while (last != end && last->vector == vector) ++last;
        return last - pieces;
    };
    for (int v = 0; v < kWhole; ++v) {
        const int64_t n = pieces_of(v);
        GatherPieces<kWidth<T>>(x, plane, count, pieces, n, panel + v * kWidth<T>, step);
        pieces += n;
    }
    if constexpr (kRest != 0) {
        GatherPieces<kRest>(x, plane, count, pieces, end - pieces, panel + kWhole * kWidth<T>,
                            step);
    }
}

}  // namespace chainerx::native::CX_ISA
