// Rows of a panel that are put together from pieces of memory, as convolutions see it.
#pragma once

#include <cstdint>

#include "chainerx/native/gemm_loops.h"
#include "chainerx/native/isa/batch.h"

namespace chainerx::native {
namespace CX_ISA {

template <typename T>
constexpr int kWidth = static_cast<int>(Batch<T>::size);

// Loads some lanes of a batch, the others are 0; never touches memory that is not asked for.
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

// Lanes that one of them has loaded; the other has zeros there.
template <typename T>
Batch<T> Union(const Batch<T>& x, const Batch<T>& y) {
    return x | y;
}

template <int kN, typename T>
void GatherVector(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, bool add,
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
        y.store_unaligned(to + c * step);
    }
}

// Up to four pieces of one vector, in addition to what is there if `add`.
template <typename T>
void GatherUpTo4(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces, int64_t n,
                 bool add, T* to, int64_t step) {
    switch (n) {
        case 1:
            return GatherVector<1>(x, plane, count, pieces, add, to, step);
        case 2:
            return GatherVector<2>(x, plane, count, pieces, add, to, step);
        case 3:
            return GatherVector<3>(x, plane, count, pieces, add, to, step);
        default:
            return GatherVector<4>(x, plane, count, pieces, add, to, step);
    }
}

template <int kN, typename T>
void GatherVectors(const T* x, int64_t plane, int64_t count, const GatherPiece* pieces,
                   int64_t n_pieces, T* panel, int64_t step) {
    // From the last vector to the first one: where the step is no multiple of a vector, what it
    // writes too much is written again.
    const GatherPiece* end = pieces + n_pieces;
    for (int v = kN - 1; v >= 0; --v) {
        T* to = panel + v * kWidth<T>;
        const GatherPiece* piece = end;
        while (piece != pieces && piece[-1].vector == v) --piece;
        const int64_t n = end - piece;
        end = piece;
        if (n == 0) {
            const Batch<T> zero{T{0}};
            for (int64_t c = 0; c < count; ++c) zero.store_unaligned(to + c * step);
            continue;
        }
        if (n == 1 && LaneLoad<T>{piece->lanes}.all) {
            const T* from = x + piece->offset;
            for (int64_t c = 0; c < count; ++c) {
                Batch<T>::load_unaligned(from + c * plane).store_unaligned(to + c * step);
            }
            continue;
        }
        for (int64_t i = 0; i < n; i += 4) {
            GatherUpTo4(x, plane, count, piece + i, n - i < 4 ? n - i : 4, i != 0, to, step);
        }
    }
}

}  // namespace CX_ISA
}  // namespace chainerx::native
