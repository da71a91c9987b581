// Sums in the order of row_order.h, whatever the width of a batch.
#pragma once

#include <type_traits>
#include <utility>

#include "chainerx/native/norm/row_order.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// FoldLanes() of sums, in ever smaller registers.
#if defined(CX_ISA_AVX512) || defined(CX_ISA_AVX2)
inline float AddLanes(__m256 x) {
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}
inline double AddLanes(__m256d x) {
    const __m128d a = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(a, _mm_unpackhi_pd(a, a)));
}
#endif
#if defined(CX_ISA_AVX512)
inline float AddLanes(__m512 x) {
    return AddLanes(_mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1)));
}
inline double AddLanes(__m512d x) {
    return AddLanes(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1)));
}
#elif !defined(CX_ISA_AVX2)
template <typename T>
inline T AddLanes(const Batch<T>& x) {
    return FoldLanes(x, [](const Batch<T>& a, const Batch<T>& b) { return a + b; });
}
#endif

// Calls f(k) for constants k = 0, ..., kCount - 1, until it returns false. Sums stay in registers
// only if indices are constants from the first.
template <int64_t kCount, typename F>
[[gnu::always_inline]] inline void Unroll(const F& f) {
    [&]<int64_t... k>(std::integer_sequence<int64_t, k...>) __attribute__((always_inline)) {
        static_cast<void>((f(std::integral_constant<int64_t, k>{}) && ...));
    }(std::make_integer_sequence<int64_t, kCount>{});
}

// kLanes sums, side by side in batches.
template <typename T, int64_t kLanes>
struct LaneSums {
    static constexpr int64_t kSize = Batch<T>::size;
    static constexpr int64_t kBatches = kLanes / kSize;

    Batch<T> part[kBatches];

    [[gnu::always_inline]] LaneSums() {
        Unroll<kBatches>([&](auto k) {
            part[k] = Batch<T>(T(0));
            return true;
        });
    }
    [[gnu::always_inline]] T total() const { return AddLanes(Fold<0, 1>()); }

 private:
    // Parts kFirst, kFirst + kStep, ...: k and k + w are added, for w = kBatches / 2, kBatches / 4,
    // ...
    template <int64_t kFirst, int64_t kStep>
    [[gnu::always_inline]] Batch<T> Fold() const {
        if constexpr (kStep == kBatches) {
            return part[kFirst];
        } else {
            return Fold<kFirst, 2 * kStep>() + Fold<kFirst + kStep, 2 * kStep>();
        }
    }
};

// Calls f<is_part>(k, first element, count) for the batches of elements [i, end), each of which
// belongs to part k of LaneSums; k is a constant.
template <typename T, int64_t kLanes, typename F>
[[gnu::always_inline]] inline void ForLanes(int64_t i, int64_t end, const F& f) {
    constexpr int64_t kSize = Batch<T>::size;
    for (; i + kLanes <= end; i += kLanes) {
        Unroll<kLanes / kSize>([&](auto k) __attribute__((always_inline)) {
            f.template operator()<false>(k, i + k * kSize, kSize);
            return true;
        });
    }
    if (i == end) return;
    Unroll<kLanes / kSize>([&](auto k) __attribute__((always_inline)) {
        if (end - i >= kSize) {
            f.template operator()<false>(k, i, kSize);
            i += kSize;
            return true;
        }
        if (i < end) f.template operator()<true>(k, i, end - i);
        return false;
    });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
