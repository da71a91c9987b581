// Windows of 3 x 3 over one plane of a depthwise convolution, read in place: padding is what masked
// loads leave out.
#pragma once

#include <cstdint>

#include "chainerx/native/conv/depthwise_loops.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

#if defined(CX_ISA_AVX512)

// Vectors of 16 floats, for rows of more than 8.
struct SixteenLanes {
    using Vector = __m512;
    using Mask = __mmask16;
    static constexpr int kSize = 16;

    static Vector Set(float x) { return _mm512_set1_ps(x); }
    static Vector Load(const float* x, Mask lanes) { return _mm512_maskz_loadu_ps(lanes, x); }
    static void Store(float* x, Mask lanes, Vector y) { _mm512_mask_storeu_ps(x, lanes, y); }
    static Vector Fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
    // NaN of x stays.
    static Vector Clip(Vector low, Vector high, Vector x) {
        return _mm512_min_ps(high, _mm512_max_ps(low, x));
    }
    // Elements 0, 2, ... or 1, 3, ... of two vectors.
    template <int kFirst>
    static Vector EverySecond(Vector a, Vector b) {
        const __m512i from = _mm512_add_epi32(
            _mm512_slli_epi32(
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), 1),
            _mm512_set1_epi32(kFirst));
        return _mm512_permutex2var_ps(a, from, b);
    }
};

struct EightLanes {
    using Vector = __m256;
    using Mask = __mmask8;
    static constexpr int kSize = 8;

    static Vector Set(float x) { return _mm256_set1_ps(x); }
    static Vector Load(const float* x, Mask lanes) { return _mm256_maskz_loadu_ps(lanes, x); }
    static void Store(float* x, Mask lanes, Vector y) { _mm256_mask_storeu_ps(x, lanes, y); }
    static Vector Fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
    static Vector Clip(Vector low, Vector high, Vector x) {
        return _mm256_min_ps(high, _mm256_max_ps(low, x));
    }
    template <int kFirst>
    static Vector EverySecond(Vector a, Vector b) {
        const __m256i from = _mm256_setr_epi32(kFirst, kFirst + 2, kFirst + 4, kFirst + 6,
                                               kFirst + 8, kFirst + 10, kFirst + 12, kFirst + 14);
        return _mm256_permutex2var_ps(a, from, b);
    }
};

// The lanes of a vector that begins at `from` which are in [0, n).
template <typename V>
typename V::Mask LanesOf(int64_t from, int64_t n) {
    const auto clip = [](int64_t i) { return i < 0 ? 0 : i > V::kSize ? V::kSize : i; };
    const auto below = [&](int64_t i) { return (uint32_t{1} << clip(i)) - 1; };
    return static_cast<typename V::Mask>(below(n - from) & ~below(-from));
}

// Computes kR rows of one vector each, whose first element is (row, column) of the result.
template <typename V, int kStride, int kR>
void WindowBlock(const DepthwiseWindow& p, const typename V::Vector (&w)[9], int64_t row,
                 int64_t column) {
    using Vector = typename V::Vector;
    constexpr int kInputs = (kR - 1) * kStride + 3;
    Vector sum[kR];
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) sum[r] = V::Set(p.bias);
    const int64_t first = column * kStride - p.before_column;
    typename V::Mask lanes[4];
    for (int i = 0; i < 3; ++i) lanes[i] = LanesOf<V>(first + i, p.columns);
    if constexpr (kStride == 2) {
        // Two adjacent vectors, from two places.
        for (int i = 0; i < 4; ++i) {
            lanes[i] = LanesOf<V>(first + i / 2 * 2 + i % 2 * V::kSize, p.columns);
        }
    }
#pragma GCC unroll 16
    for (int q = 0; q < kInputs; ++q) {
        const int64_t y = row * kStride - p.before_row + q;
        if (y < 0 || y >= p.rows) continue;
        const float* x = p.x + y * p.x_step + first;
        Vector tap[3];
        if constexpr (kStride == 1) {
#pragma GCC unroll 4
            for (int i = 0; i < 3; ++i) tap[i] = V::Load(x + i, lanes[i]);
        } else {
            const Vector a = V::Load(x, lanes[0]);
            const Vector b = V::Load(x + V::kSize, lanes[1]);
            tap[0] = V::template EverySecond<0>(a, b);
            tap[1] = V::template EverySecond<1>(a, b);
            tap[2] = V::template EverySecond<0>(V::Load(x + 2, lanes[2]),
                                                V::Load(x + 2 + V::kSize, lanes[3]));
        }
#pragma GCC unroll 4
        for (int k = 0; k < 3; ++k) {
            if (q < k || (q - k) % kStride != 0 || (q - k) / kStride >= kR) continue;
            Vector& to = sum[(q - k) / kStride];
#pragma GCC unroll 4
            for (int i = 0; i < 3; ++i) to = V::Fma(w[3 * k + i], tap[i], to);
        }
    }
    const auto kept = LanesOf<V>(0, p.y_columns - column);
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
        if (p.limits != nullptr) {
            sum[r] = V::Clip(V::Set(p.limits[0]), V::Set(p.limits[1]), sum[r]);
        }
        V::Store(p.y + (row + r) * p.y_step + column, kept, sum[r]);
    }
}

template <typename V, int kStride>
void WindowRows(const DepthwiseWindow& p) {
    typename V::Vector w[9];
#pragma GCC unroll 16
    for (int t = 0; t < 9; ++t) w[t] = V::Set(p.w[t]);
    constexpr int64_t kTogether = 4;
    for (int64_t row = 0; row < p.y_rows; row += kTogether) {
        if (p.y_rows < kTogether) {
            for (int64_t r = row; r < p.y_rows; ++r) {
                for (int64_t c = 0; c < p.y_columns; c += V::kSize) {
                    WindowBlock<V, kStride, 1>(p, w, r, c);
                }
            }
            return;
        }
        // The last rows are computed twice, rather than one by one.
        const int64_t first = row + kTogether <= p.y_rows ? row : p.y_rows - kTogether;
        for (int64_t c = 0; c < p.y_columns; c += V::kSize) {
            WindowBlock<V, kStride, 4>(p, w, first, c);
        }
    }
}

void Window(const DepthwiseWindow& p) {
    const bool is_narrow = p.y_columns <= EightLanes::kSize;
    if (p.stride == 1) {
        is_narrow ? WindowRows<EightLanes, 1>(p) : WindowRows<SixteenLanes, 1>(p);
    } else {
        is_narrow ? WindowRows<EightLanes, 2>(p) : WindowRows<SixteenLanes, 2>(p);
    }
}

constexpr void (*kWindow)(const DepthwiseWindow& p) = &Window;

#else

constexpr void (*kWindow)(const DepthwiseWindow& p) = nullptr;

#endif

}  // namespace
}  // namespace chainerx::native::CX_ISA
