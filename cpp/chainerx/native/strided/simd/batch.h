// The SIMD batch of one instruction set, and operations that xsimd lacks.
#pragma once

#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
using Batch = xsimd::batch<T>;
using BatchF = Batch<float>;
using BatchD = Batch<double>;

// Element types whose square of vectors is transposed in registers. xsimd transposes 16 x 16
// through memory, at a third of the speed.
#if defined(CX_ISA_AVX512)
template <typename T>
using Square = xsimd::batch<T, xsimd::avx2>;
#else
template <typename T>
using Square = Batch<T>;
#endif

// Loads a whole batch. With AVX-512 in halves: on Zen 4, a full-line load is 10 to 20 % slower from
// L3 and beyond when stores run beside it (x + y of 2000 x 2000). Read-only loops are as fast or
// faster with full-line loads, as long as they read from a cache.
inline BatchF Load(const float* x) {
#if defined(CX_ISA_AVX512)
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(x)), _mm256_loadu_ps(x + 8),
                              1);
#else
    return BatchF::load_unaligned(x);
#endif
}
inline BatchD Load(const double* x) {
#if defined(CX_ISA_AVX512)
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(x)), _mm256_loadu_pd(x + 4),
                              1);
#else
    return BatchD::load_unaligned(x);
#endif
}

// Loads 0 < n < size elements; the other lanes are 0. It never touches memory beyond them.
inline BatchF LoadPart(const float* x, int64_t n) {
#if defined(CX_ISA_AVX512)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), x);
#elif defined(CX_ISA_AVX2)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(x, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane));
#else
    alignas(64) float part[BatchF::size] = {};
    for (int64_t i = 0; i < n; ++i) part[i] = x[i];
    return BatchF::load_aligned(part);
#endif
}

inline BatchD LoadPart(const double* x, int64_t n) {
#if defined(CX_ISA_AVX512)
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), x);
#elif defined(CX_ISA_AVX2)
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_pd(x, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lane));
#else
    alignas(64) double part[BatchD::size] = {};
    for (int64_t i = 0; i < n; ++i) part[i] = x[i];
    return BatchD::load_aligned(part);
#endif
}

// Stores the first n lanes, 0 < n < size.
inline void StorePart(float* x, const BatchF& y, int64_t n) {
#if defined(CX_ISA_AVX512)
    _mm512_mask_storeu_ps(x, static_cast<__mmask16>((1u << n) - 1), y);
#elif defined(CX_ISA_AVX2)
    // Stores in parts: AVX2's masked store is slow on AMD (softmax of 5 columns: 8 % more time).
    __m128 part = _mm256_castps256_ps128(y);
    if ((n & 4) != 0) {
        _mm_storeu_ps(x, part);
        part = _mm256_extractf128_ps(y, 1);
        x += 4;
    }
    if ((n & 2) != 0) {
        _mm_storel_pi(reinterpret_cast<__m64*>(x), part);
        part = _mm_movehl_ps(part, part);
        x += 2;
    }
    if ((n & 1) != 0) _mm_store_ss(x, part);
#else
    alignas(64) float part[BatchF::size];
    y.store_aligned(part);
    for (int64_t i = 0; i < n; ++i) x[i] = part[i];
#endif
}

inline void StorePart(double* x, const BatchD& y, int64_t n) {
#if defined(CX_ISA_AVX512)
    _mm512_mask_storeu_pd(x, static_cast<__mmask8>((1u << n) - 1), y);
#elif defined(CX_ISA_AVX2)
    __m128d part = _mm256_castpd256_pd128(y);
    if ((n & 2) != 0) {
        _mm_storeu_pd(x, part);
        part = _mm256_extractf128_pd(y, 1);
        x += 2;
    }
    if ((n & 1) != 0) _mm_store_sd(x, part);
#else
    alignas(64) double part[BatchD::size];
    y.store_aligned(part);
    for (int64_t i = 0; i < n; ++i) x[i] = part[i];
#endif
}

// Computes y = f(x) for n elements, batch by batch; the last batch may be partial.
template <typename T, typename F>
inline void ForRow(const T* x, T* y, int64_t n, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    int64_t i = 0;
    for (; i + kSize <= n; i += kSize) f(Batch<T>::load_unaligned(x + i)).store_unaligned(y + i);
    if (i < n) StorePart(y + i, f(LoadPart(x + i, n - i)), n - i);
}

// A mask of the first n lanes.
template <typename T>
inline xsimd::batch_bool<T> FirstLanes(int64_t n) {
    return xsimd::batch_bool<T>::from_mask((uint64_t{1} << n) - 1);
}

// Permutation that moves lanes [kWidth, 2 kWidth) onto the first ones.
template <size_t kWidth>
struct UpperHalf {
    static constexpr size_t get(size_t i, size_t) { return i < kWidth ? i + kWidth : i; }
};

// Reduces by halves: combines lane i with lane i + size / 2, and so on.
template <typename T, typename F>
inline T FoldLanes(Batch<T> x, F f) {
    using Index = xsimd::as_unsigned_integer_t<T>;
    using Arch = typename Batch<T>::arch_type;
    const auto step = [&]<size_t kWidth>() {
        if constexpr (kWidth < Batch<T>::size) {
            constexpr auto kLanes = xsimd::make_batch_constant<Index, UpperHalf<kWidth>, Arch>();
            x = f(x, xsimd::swizzle(x, kLanes));
        }
    };
    step.template operator()<8>();
    step.template operator()<4>();
    step.template operator()<2>();
    step.template operator()<1>();
    return x.get(0);
}

struct PairD {
    BatchD low;
    BatchD high;
};

inline PairD Widen(const BatchF& x) {
#if defined(CX_ISA_AVX512)
    return {_mm512_cvtps_pd(_mm512_castps512_ps256(x)),
            _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))};
#elif defined(CX_ISA_AVX2)
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(x)),
            _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1))};
#else
    alignas(64) float in[BatchF::size];
    alignas(64) double out[BatchF::size];
    x.store_aligned(in);
    for (size_t i = 0; i < BatchF::size; ++i) out[i] = in[i];
    return {BatchD::load_aligned(out), BatchD::load_aligned(out + BatchD::size)};
#endif
}

inline BatchF Narrow(const PairD& x) {
#if defined(CX_ISA_AVX512)
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.low)),
                              _mm512_cvtpd_ps(x.high), 1);
#elif defined(CX_ISA_AVX2)
    return _mm256_set_m128(_mm256_cvtpd_ps(x.high), _mm256_cvtpd_ps(x.low));
#else
    alignas(64) double in[BatchF::size];
    alignas(64) float out[BatchF::size];
    x.low.store_aligned(in);
    x.high.store_aligned(in + BatchD::size);
    for (size_t i = 0; i < BatchF::size; ++i) out[i] = static_cast<float>(in[i]);
    return BatchF::load_aligned(out);
#endif
}

// Calls f on each element that `where` marks, for rare cases without a vectorized path.
template <typename T, typename F>
inline Batch<T> PatchLanes(const Batch<T>& y, const xsimd::batch_bool<T>& where, const Batch<T>& x1,
                           const Batch<T>& x2, F f) {
    if (!xsimd::any(where)) return y;
    alignas(64) T in1[Batch<T>::size];
    alignas(64) T in2[Batch<T>::size];
    alignas(64) T out[Batch<T>::size];
    x1.store_aligned(in1);
    x2.store_aligned(in2);
    y.store_aligned(out);
    const uint64_t mask = where.mask();
    for (size_t i = 0; i < Batch<T>::size; ++i) {
        if ((mask >> i & 1) != 0) out[i] = f(in1[i], in2[i]);
    }
    return Batch<T>::load_aligned(out);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

#include "chainerx/native/strided/simd/poly.h"
