// Packs panels from rows that are adjacent along k, transposing them on the way.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {

// Packs rows [begin, begin + kSide) of a panel; `kept` of them belong to the panel. The others are
// written into the next column, which is overwritten later, but not beyond the last one.
template <int kTo, typename T>
void PackSquares(const T* x, int64_t stride, int64_t n, int64_t k, int kept, T* panel) {
    constexpr int kSide = static_cast<int>(Square<T>::size);
    const T* rows[kSide];
    for (int p = 0; p < kSide; ++p) rows[p] = x + (p < n ? p : n - 1) * stride;
    // The last column of a partial square is written element by element.
    const int64_t whole = kept == kSide ? k : k - 1;
    const auto transpose_square = [&](int64_t q) {
        Square<T> y[kSide];
#pragma GCC unroll 8
        for (int p = 0; p < kSide; ++p) y[p] = Square<T>::load_unaligned(rows[p] + q);
        xsimd::transpose(y, y + kSide);
#pragma GCC unroll 8
        for (int p = 0; p < kSide; ++p) y[p].store_unaligned(panel + (q + p) * kTo);
    };
    int64_t q = 0;
    for (; q + kSide <= whole; q += kSide) transpose_square(q);
    if (q != 0 && q < whole) {
        transpose_square(whole - kSide);  // overlaps the previous square
        q = whole;
    }
    for (; q < k; ++q) {
        for (int p = 0; p < kept; ++p) panel[q * kTo + p] = rows[p][q];
    }
}

#if defined(CX_ISA_AVX512)
// Transposes four elements of each of 16 rows into four columns. Loads place quarters of rows next
// to each other, so that only 4 x 4 elements within 128-bit lanes are left to transpose: half a
// shuffle per four elements, against one shuffle for transposing whole registers.
template <int kTo>
void PackQuarters(const float* x, int64_t stride, int64_t n, int64_t k, float* panel) {
    constexpr int kSide = 16;
    constexpr int kSteps = 4;  // a line of each row
    const float* rows[kSide];
    for (int p = 0; p < kSide; ++p) rows[p] = x + (p < n ? p : n - 1) * stride;
    const auto lanes = [](int64_t count) {
        return static_cast<__mmask16>(count < kSide ? (1u << count) - 1 : 0xffffu);
    };
    const __mmask16 kept = lanes(n);
    const auto transpose_square = [&](int64_t q, auto steps) {
        constexpr int kN = decltype(steps)::value;
        __m512 y[kN][4];
#pragma GCC unroll 4
        for (int t = 0; t < 4; ++t) {
#pragma GCC unroll 4
            for (int quarter = 0; quarter < 4; ++quarter) {
                const float* from = rows[4 * quarter + t] + q;
                const auto place = static_cast<__mmask16>(0xf << 4 * quarter);
#pragma GCC unroll 4
                for (int i = 0; i < kN; ++i) {
                    const __m128 four = _mm_loadu_ps(from + 4 * i);
                    y[i][t] = quarter == 0 ? _mm512_maskz_broadcast_f32x4(place, four)
                                           : _mm512_mask_broadcast_f32x4(y[i][t], place, four);
                }
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < kN; ++i) {
            const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(y[i][0], y[i][1]));
            const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(y[i][0], y[i][1]));
            const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(y[i][2], y[i][3]));
            const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(y[i][2], y[i][3]));
            const __m512 columns[4] = {_mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23)),
                                       _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23)),
                                       _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23)),
                                       _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23))};
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
                float* to = panel + (q + 4 * i + j) * kTo;
                const __m512 column = _mm512_maskz_mov_ps(kept, columns[j]);
                if constexpr (kTo < kSide) {
                    _mm512_mask_storeu_ps(to, lanes(kTo), column);
                } else {
                    _mm512_storeu_ps(to, column);
                }
            }
        }
    };
    int64_t q = 0;
    for (; q + 4 * kSteps <= k; q += 4 * kSteps)
        transpose_square(q, std::integral_constant<int, kSteps>{});
    for (; q + 4 <= k; q += 4) transpose_square(q, std::integral_constant<int, 1>{});
    for (; q < k; ++q) {
        for (int p = 0; p < kSide && p < kTo; ++p) panel[q * kTo + p] = p < n ? rows[p][q] : 0.0f;
    }
}
#endif

// Packs rows that are adjacent along k. Padding is zero.
template <int kTo, typename T>
void PackTransposed(const T* x, int64_t stride, int64_t n, int64_t k, T* panel) {
#if defined(CX_ISA_AVX512)
    if constexpr (std::is_same_v<T, float>) {
        for (int64_t i = 0; i < kTo && i < n; i += 16) {
            PackQuarters<kTo>(x + i * stride, stride, n - i, k, panel + i);
        }
        for (int64_t i = (n + 15) / 16 * 16; i < kTo; ++i) {
            for (int64_t q = 0; q < k; ++q) panel[q * kTo + i] = 0.0f;
        }
        return;
    }
#endif
    constexpr int kSide = static_cast<int>(Square<T>::size);
    // Goes from the last rows to the first, since each square overwrites the excess of the one
    // after it.
    for (int64_t i = (kTo - 1) / kSide * kSide; i >= 0; i -= kSide) {
        const int kept = static_cast<int>(kTo - i < kSide ? kTo - i : kSide);
        if (i < n) {
            PackSquares<kTo>(x + i * stride, stride, n - i, k, kept, panel + i);
        }
        for (int64_t p = i < n ? n : i; p < i + kept; ++p) {
            for (int64_t q = 0; q < k; ++q) panel[q * kTo + p] = T{0};
        }
    }
}

}  // namespace chainerx::native::CX_ISA
