// SIMD pooling of float rows: several windows in the lanes of a batch, or along a single long
// window.
#include <limits>
#include <type_traits>

#include "chainerx/native/pool/pooling_loops.h"
#include "chainerx/native/pool/pooling_scalar.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
using Lane = xsimd::as_integer_t<T>;

template <typename T>
constexpr int64_t kSize = static_cast<int64_t>(Batch<T>::size);

// Loads the first n lanes, for any n; the others are 0.
template <typename T>
inline Batch<T> LoadFirst(const T* x, int64_t n) {
    if (n >= kSize<T>) return Batch<T>::load_unaligned(x);
    return n > 0 ? LoadPart(x, n) : Batch<T>(T(0));
}

template <typename T>
inline void StoreFirst(T* y, const Batch<T>& b, int64_t n) {
    if (n >= kSize<T>) {
        b.store_unaligned(y);
    } else {
        StorePart(y, b, n);
    }
}

template <typename T>
struct Two {
    Batch<T> a;
    Batch<T> b;
};

// Deinterleaves (a, b) into even and odd lanes.
inline Two<float> Part(const BatchF& a, const BatchF& b) {
#if defined(CX_ISA_AVX512)
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return {_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)};
#elif defined(CX_ISA_AVX2)
    const __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88));
    const __m256d odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
    return {_mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8)),
            _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8))};
#elif defined(CX_ISA_SSE4)
    return {_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd)};
#else
    return {vuzp1q_f32(a, b), vuzp2q_f32(a, b)};
#endif
}

inline Two<double> Part(const BatchD& a, const BatchD& b) {
#if defined(CX_ISA_AVX512)
    return {_mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b),
            _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b)};
#elif defined(CX_ISA_AVX2)
    return {_mm256_permute4x64_pd(_mm256_shuffle_pd(a, b, 0x0), 0xd8),
            _mm256_permute4x64_pd(_mm256_shuffle_pd(a, b, 0xf), 0xd8)};
#elif defined(CX_ISA_SSE4)
    return {_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b)};
#else
    return {vuzp1q_f64(a, b), vuzp2q_f64(a, b)};
#endif
}

// The inverse: interleaves a and b.
inline Two<float> Join(const BatchF& a, const BatchF& b) {
#if defined(CX_ISA_AVX512)
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return {_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b)};
#else
    return {xsimd::zip_lo(a, b), xsimd::zip_hi(a, b)};
#endif
}
inline Two<double> Join(const BatchD& a, const BatchD& b) {
#if defined(CX_ISA_AVX512)
    return {_mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b),
            _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b)};
#else
    return {xsimd::zip_lo(a, b), xsimd::zip_hi(a, b)};
#endif
}

// Calls f(t, lanes) for each t < width with x[stride * l + t] in lane l < n, for stride 1 or 2.
template <int kStride, typename T, typename F>
inline void ForTaps(const T* x, int64_t width, int64_t n, const F& f) {
    if constexpr (kStride == 1) {
        for (int64_t t = 0; t < width; ++t) f(t, LoadFirst(x + t, n));
    } else {
        for (int64_t t = 0; t < width; t += 2) {
            // Nothing beyond the last window is read.
            const int64_t there = 2 * n - (t + 1 < width ? 0 : 1);
            const Two<T> taps =
                Part(LoadFirst(x + t, there), LoadFirst(x + t + kSize<T>, there - kSize<T>));
            f(t, taps.a);
            if (t + 1 < width) f(t + 1, taps.b);
        }
    }
}

// ---- max ----------------------------------------------------------------------------------------

// The lanes of x that beat those of y, as in Largest::See.
template <typename T>
inline xsimd::batch_bool<T> Wins(const Batch<T>& x, const Batch<T>& y) {
    return ~(x <= y) & (y == y);
}

template <typename T, typename Index>
inline void StoreIndex(const Batch<Lane<T>>& number, int64_t n, Index* index) {
#if defined(CX_ISA_AVX512)
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Index, uint8_t>) {
        const auto lanes = static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
        _mm512_mask_cvtepi32_storeu_epi8(index, lanes, number);
        return;
    }
#endif
    alignas(64) Lane<T> lanes[kSize<T>];
    number.store_aligned(lanes);
    if (n >= kSize<T>) {
        for (int64_t l = 0; l < kSize<T>; ++l) index[l] = static_cast<Index>(lanes[l]);
    } else {
        for (int64_t l = 0; l < n; ++l) index[l] = static_cast<Index>(lanes[l]);
    }
}

template <typename T, typename Index>
inline Batch<Lane<T>> LoadIndex(const Index* index, int64_t n) {
#if defined(CX_ISA_AVX512)
    if constexpr (std::is_same_v<T, float> && std::is_same_v<Index, uint8_t>) {
        const auto lanes = static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
        return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, index));
    }
#endif
    alignas(64) Lane<T> lanes[kSize<T>] = {};
    for (int64_t l = 0; l < n && l < kSize<T>; ++l) lanes[l] = static_cast<Lane<T>>(index[l]);
    return Batch<Lane<T>>::load_aligned(lanes);
}

// n adjacent windows, from x[r] on, one per lane.
template <int kStride, typename T, typename Index>
inline void MaxAcross(const PoolRows& rows, int64_t from, int64_t n, T* y, Index* index) {
    constexpr bool kIndex = !std::is_void_v<Index>;
    for (int64_t i = 0; i < n; i += kSize<T>) {
        const int64_t left = n - i;
        Batch<T> value;
        Batch<Lane<T>> number(static_cast<Lane<T>>(rows.first[0]));
        bool empty = !rows.resume;
        if (rows.resume) {
            value = LoadFirst(y + i, left);
            if constexpr (kIndex) number = LoadIndex<T>(index + i, left);
        }
        for (int r = 0; r < rows.count; ++r) {
            const auto first = static_cast<Lane<T>>(rows.first[r]);
            ForTaps<kStride>(rows.row<T>(r) + from + i * kStride, rows.width,
                             left < kSize<T> ? left : kSize<T>, [&](int64_t t, const Batch<T>& x) {
                                 if (empty) {
                                     empty = false;
                                     value = x;
                                     return;
                                 }
                                 const auto wins = Wins(x, value);
                                 value = xsimd::select(wins, x, value);
                                 if constexpr (kIndex) {
                                     number = xsimd::select(
                                         xsimd::batch_bool_cast<Lane<T>>(wins),
                                         Batch<Lane<T>>(first + static_cast<Lane<T>>(t)), number);
                                 }
                             });
        }
        StoreFirst(y + i, value, left);
        if constexpr (kIndex) StoreIndex<T>(number, left, index + i);
    }
}

// Combines two candidates in any order. NaN wins, then the larger, then the smaller index.
template <typename T>
inline void SeeAny(Largest<T>& largest, T x, int64_t k) {
    const bool nan = x != x;
    const bool had = largest.value != largest.value;
    const bool same = nan == had && (nan || x == largest.value);
    if (same ? k < largest.number : !had && (nan || x > largest.value)) largest = {x, k};
}

// Reduces along one window after the other.
template <typename T, typename Index>
inline void MaxAlong(const PoolRows& rows, int64_t from, int64_t n, int64_t to, T* y,
                     Index* index) {
    alignas(64) Lane<T> lane[kSize<T>];
    for (int64_t l = 0; l < kSize<T>; ++l) lane[l] = static_cast<Lane<T>>(l);
    const auto lanes = Batch<Lane<T>>::load_aligned(lane);
    for (int64_t i = 0; i < n; ++i) {
        const int64_t begin = from + i * rows.stride;
        Largest<T> largest = StartLargest(rows, rows.row<T>(0) + begin, to + i, y, index);
        auto value = Batch<T>::load_unaligned(rows.row<T>(0) + begin);
        Batch<Lane<T>> number = lanes + static_cast<Lane<T>>(rows.first[0]);
        for (int r = 0; r < rows.count; ++r) {
            const T* x = rows.row<T>(r) + begin;
            for (int64_t t = 0; t < rows.width; t += kSize<T>) {
                // The last batch may overlap the one before: seeing elements twice is harmless.
                const int64_t k = t + kSize<T> <= rows.width ? t : rows.width - kSize<T>;
                const auto b = Batch<T>::load_unaligned(x + k);
                const auto wins = Wins(b, value);
                value = xsimd::select(wins, b, value);
                number = xsimd::select(xsimd::batch_bool_cast<Lane<T>>(wins),
                                       lanes + static_cast<Lane<T>>(rows.first[r] + k), number);
            }
        }
        if (xsimd::any(value != value)) [[unlikely]] {
            alignas(64) T values[kSize<T>];
            alignas(64) Lane<T> numbers[kSize<T>];
            value.store_aligned(values);
            number.store_aligned(numbers);
            for (int64_t l = 0; l < kSize<T>; ++l) SeeAny(largest, values[l], int64_t{numbers[l]});
        } else {
            const T best = FoldLanes(
                value, [](const Batch<T>& a, const Batch<T>& b) { return xsimd::max(a, b); });
            // The lowest index among the lanes that hold the maximum.
            const auto has = xsimd::batch_bool_cast<Lane<T>>(value == Batch<T>(best));
            const auto first =
                xsimd::select(has, number, Batch<Lane<T>>(std::numeric_limits<Lane<T>>::max()));
            const Lane<T> least = FoldLanes(
                first,
                [](const Batch<Lane<T>>& a, const Batch<Lane<T>>& b) { return xsimd::min(a, b); });
            SeeAny(largest, best, int64_t{least});
        }
        StoreLargest(largest, to + i, y, index);
    }
}

// `index` may be void.
template <typename Index>
inline Index* Advance(Index* index, int64_t n) {
    if constexpr (std::is_void_v<Index>) {
        return index;
    } else {
        return index + n;
    }
}

template <typename T, typename Index>
void Max(const PoolRows& rows, int64_t n, void* out, void* numbers) {
    T* const y = static_cast<T*>(out);
    Index* const index = static_cast<Index*>(numbers);
    if (n < kSize<T> && rows.width >= 2 * kSize<T>) {
        ForOutRows(rows, [&](int64_t to, int64_t from) { MaxAlong(rows, from, n, to, y, index); });
    } else if (n > 1 && rows.stride == 1) {
        ForOutRows(rows, [&](int64_t to, int64_t from) {
            MaxAcross<1>(rows, from, n, y + to, Advance(index, to));
        });
    } else if (n > 1 && rows.stride == 2) {
        ForOutRows(rows, [&](int64_t to, int64_t from) {
            MaxAcross<2>(rows, from, n, y + to, Advance(index, to));
        });
    } else {
        ScalarMax<T, Index>(rows, n, y, index);
    }
}

// ---- sums ---------------------------------------------------------------------------------------

template <typename T>
void AddRows(const PoolRows& rows, int64_t n, T divisor, T* y) {
    for (int64_t i = 0; i < n; i += kSize<T>) {
        const int64_t left = n - i;
        Batch<T> sum = LoadFirst((rows.resume ? y : rows.row<T>(0)) + i, left);
        for (int r = rows.resume ? 0 : 1; r < rows.count; ++r) {
            sum += LoadFirst(rows.row<T>(r) + i, left);
        }
        StoreFirst(y + i, divisor == 1 ? sum : sum / divisor, left);
    }
}

template <int kStride, typename T>
inline void SumAcross(const PoolRows& rows, int64_t from, int64_t n, T divisor, T* y) {
    for (int64_t i = 0; i < n; i += kSize<T>) {
        const int64_t left = n - i;
        Batch<T> sum(T(0));
        for (int r = 0; r < rows.count; ++r) {
            ForTaps<kStride>(rows.row<T>(r) + from + i * kStride, rows.width,
                             left < kSize<T> ? left : kSize<T>,
                             [&](int64_t, const Batch<T>& b) { sum += b; });
        }
        StoreFirst(y + i, divisor == 1 ? sum : sum / divisor, left);
    }
}

// In 64 float or 32 double lanes, whatever the width of a batch: all instruction sets give the same
// bits.
template <typename T>
inline T SumAlong(const T* x, int64_t n) {
    constexpr int64_t kBatches = 256 / static_cast<int64_t>(sizeof(T)) / kSize<T>;
    Batch<T> sums[kBatches];
    for (Batch<T>& sum : sums) sum = Batch<T>(T(0));
    int64_t i = 0;
    for (; i + kBatches * kSize<T> <= n; i += kBatches * kSize<T>) {
        for (int64_t k = 0; k < kBatches; ++k) {
            sums[k] += Batch<T>::load_unaligned(x + i + k * kSize<T>);
        }
    }
    for (int64_t k = 0; i < n; i += kSize<T>, ++k) sums[k] += LoadFirst(x + i, n - i);
    for (int64_t half = kBatches / 2; half > 0; half /= 2) {
        for (int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    }
    return FoldLanes(sums[0], [](const Batch<T>& a, const Batch<T>& b) { return a + b; });
}

template <typename T>
void Sum(const PoolRows& rows, int64_t n, T divisor, T* y) {
    constexpr int64_t kItem = static_cast<int64_t>(sizeof(T));
    // Chosen by the shape alone, since the order of the sum depends on it.
    if (rows.count == 1 && n * kItem < 64 && rows.width * kItem >= 128) {
        ForOutRows(rows, [&](int64_t to, int64_t from) {
            for (int64_t i = 0; i < n; ++i) {
                y[to + i] = SumAlong(rows.row<T>(0) + from + i * rows.stride, rows.width) / divisor;
            }
        });
    } else if (n > 1 && rows.stride == 1) {
        ForOutRows(rows,
                   [&](int64_t to, int64_t from) { SumAcross<1>(rows, from, n, divisor, y + to); });
    } else if (n > 1 && rows.stride == 2) {
        ForOutRows(rows,
                   [&](int64_t to, int64_t from) { SumAcross<2>(rows, from, n, divisor, y + to); });
    } else {
        ForOutRows(rows, [&](int64_t to, int64_t from) {
            for (int64_t i = 0; i < n; ++i) {
                T sum = 0;
                for (int r = 0; r < rows.count; ++r) {
                    const T* x = rows.row<T>(r) + from + i * rows.stride;
                    for (int64_t t = 0; t < rows.width; ++t) sum += x[t];
                }
                y[to + i] = sum / divisor;
            }
        });
    }
}

// ---- gradients ----------------------------------------------------------------------------------

template <typename T>
inline void StoreTwo(T* y, const Two<T>& two, int64_t n) {
    StoreFirst(y, two.a, n);
    if (n > kSize<T>) StoreFirst(y + kSize<T>, two.b, n - kSize<T>);
}

template <typename T>
void Twice(const T* x, int64_t rows, int64_t n, int64_t copies, T divisor, T* y) {
    for (int64_t r = 0; r < rows; ++r, x += n, y += copies * 2 * n) {
        for (int64_t i = 0; i < n; i += kSize<T>) {
            Batch<T> b = LoadFirst(x + i, n - i);
            if (divisor != 1) b /= divisor;
            const Two<T> two = Join(b, b);
            for (int64_t c = 0; c < copies; ++c) {
                StoreTwo(y + (c * n + i) * 2, two, 2 * (n - i));
            }
        }
    }
}

template <typename T>
void Repeat(const T* x, int64_t rows, int64_t n, T divisor, T* y) {
    for (int64_t r = 0; r < rows; ++r, y += n) {
        const Batch<T> b(x[r] / divisor);
        int64_t i = 0;
        for (; i + kSize<T> <= n; i += kSize<T>) b.store_unaligned(y + i);
        if (i < n) StorePart(y + i, b, n - i);
    }
}

template <typename T>
void Place(const T* x, const uint8_t* index, int64_t rows, int64_t n, int64_t rest, T* y) {
    const Batch<T> zero(T(0));
    for (int64_t r = 0; r < rows; ++r, x += n, index += n) {
        T* const y0 = y;
        T* const y1 = y + 2 * n + rest;
        for (int64_t i = 0; i < n; i += kSize<T>) {
            const Batch<T> b = LoadFirst(x + i, n - i);
            const Batch<Lane<T>> number = LoadIndex<T>(index + i, n - i);
            const auto at = [&](int k) {
                const auto here = number == Batch<Lane<T>>(static_cast<Lane<T>>(k));
                return xsimd::select(xsimd::batch_bool_cast<T>(here), b, zero);
            };
            StoreTwo(y0 + 2 * i, Join(at(0), at(1)), 2 * (n - i));
            StoreTwo(y1 + 2 * i, Join(at(2), at(3)), 2 * (n - i));
        }
        for (int64_t i = 2 * n; i < 2 * n + rest; ++i) y0[i] = y1[i] = T(0);
        y = y1 + 2 * n + rest;
    }
}

template <typename T>
constexpr PoolLoopsOf<T> kLoops = {Max<T, uint8_t>, Max<T, int64_t>, Max<T, void>, Sum<T>,
                                   AddRows<T>,      Twice<T>,        Repeat<T>,    Place<T>};

}  // namespace

CX_EXPORT_LOOPS(PoolLoops){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
