// Inner loops over contiguous memory around an expression, for one instruction set.
//
// The last, partial batch is loaded with a mask into a full one: so a result never depends on the
// position of its element, and no scalar functions are needed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/strided/prefetch.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// Prefetch distance, in elements: one kilobyte, or none. A long expression fills the out-of-order
// window with two or three batches, so that each load from L3 would stall. Loops that don't
// prefetch ahead prefetch the line they read next, which costs less than a branch: `-x` of a
// million floats by AVX2 takes a fifth less.
template <typename T>
inline int64_t ElementsAhead() {
    return prefetches_ahead ? int64_t{1024 / sizeof(T)} : 0;
}

template <typename Row, typename T>
void RunUnary(const void* x_data, void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x = static_cast<const T*>(x_data);
    T* out = static_cast<T*>(out_data);
    const int64_t ahead = ElementsAhead<T>();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(x + i + ahead);
        Row::Apply(Load(x + i)).store_unaligned(out + i);
    }
    if (i < n) StorePart(out + i, Row::Apply(LoadPart(x + i, n - i)), n - i);
}

template <typename Row, typename T>
void RunBinary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
               void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x1 = static_cast<const T*>(x1_data);
    const T* x2 = static_cast<const T*>(x2_data);
    T* out = static_cast<T*>(out_data);
    // A scalar becomes a batch in memory that is read repeatedly: one loop serves all cases.
    alignas(64) T value1[kWidth];
    alignas(64) T value2[kWidth];
    if (step1 == 0) {
        B(*x1).store_aligned(value1);
        x1 = value1;
    }
    if (step2 == 0) {
        B(*x2).store_aligned(value2);
        x2 = value2;
    }
    const int64_t ahead = ElementsAhead<T>();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(x1 + i * step1 + ahead);
        __builtin_prefetch(x2 + i * step2 + ahead);
        Row::Apply(Load(x1 + i * step1), Load(x2 + i * step2)).store_unaligned(out + i);
    }
    if (i < n) {
        const B y = Row::Apply(LoadPart(x1 + i * step1, n - i), LoadPart(x2 + i * step2, n - i));
        StorePart(out + i, y, n - i);
    }
}

template <typename Row, typename T>
void RunTernary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                const void* x3_data, int64_t step3, void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x[3] = {static_cast<const T*>(x1_data), static_cast<const T*>(x2_data),
                     static_cast<const T*>(x3_data)};
    const int64_t steps[3] = {step1, step2, step3};
    T* out = static_cast<T*>(out_data);
    alignas(64) T values[3][kWidth];  // as above
    for (int k = 0; k < 3; ++k) {
        if (steps[k] != 0) continue;
        B(*x[k]).store_aligned(values[k]);
        x[k] = values[k];
    }
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        Row::Apply(Load(x[0] + i * step1), Load(x[1] + i * step2), Load(x[2] + i * step3))
            .store_unaligned(out + i);
    }
    if (i < n) {
        const B y = Row::Apply(LoadPart(x[0] + i * step1, n - i), LoadPart(x[1] + i * step2, n - i),
                               LoadPart(x[2] + i * step3, n - i));
        StorePart(out + i, y, n - i);
    }
}

// Comparisons are exact, so auto-vectorized scalar expressions serve. With AVX2 the loop makes
// masks only: the compiler takes twice as long to narrow them to bytes.
#if defined(CX_ISA_AVX2)
constexpr int64_t kTruths = 32;
// Narrows masks, all ones or all zeros, to bytes.
inline void StoreTruths(const uint32_t* masks, bool* out) {
    const auto* m = reinterpret_cast<const __m256i*>(masks);
    const __m256i first = _mm256_packs_epi32(m[0], m[1]);
    const __m256i second = _mm256_packs_epi32(m[2], m[3]);
    // Each 128-bit lane has four bytes of each mask, interleaved.
    const __m256i mixed = _mm256_packs_epi16(first, second);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_permutevar8x32_epi32(mixed, order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_and_si256(bytes, _mm256_set1_epi8(1)));
}
inline void StoreTruths(const uint64_t* masks, bool* out) {
    const auto* m = reinterpret_cast<const __m256*>(masks);
    const auto halves = [m](int64_t i) {
        return _mm256_castps_si256(_mm256_shuffle_ps(m[i], m[i + 1], 0x88));
    };
    const __m256i first = _mm256_packs_epi32(halves(0), halves(2));
    const __m256i second = _mm256_packs_epi32(halves(4), halves(6));
    // One half has the first two of each four, the other one the last two.
    const __m256i mixed = _mm256_and_si256(_mm256_packs_epi16(first, second), _mm256_set1_epi8(1));
    const __m128i low = _mm256_castsi256_si128(mixed);
    const __m128i high = _mm256_extracti128_si256(mixed, 1);
    auto* to = reinterpret_cast<__m128i*>(out);
    _mm_storeu_si128(to, _mm_unpacklo_epi16(low, high));
    _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(low, high));
}
#endif
// out[i] = is_true(i) for n elements of type T.
template <typename T, typename F>
[[gnu::always_inline]] inline void RunTruths(bool* __restrict out, int64_t n, const F& is_true) {
    int64_t i = 0;
#if defined(CX_ISA_AVX2)
    using Mask = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    for (; i + kTruths <= n; i += kTruths) {
        alignas(32) Mask masks[kTruths];
        for (int64_t k = 0; k < kTruths; ++k) masks[k] = is_true(i + k) ? ~Mask{0} : Mask{0};
        StoreTruths(masks, out + i);
    }
#endif
    for (; i < n; ++i) out[i] = is_true(i);
}

template <typename Row, typename T>
void RunPredicate(const void* x_data, void* out_data, int64_t n) {
    const T* x = static_cast<const T*>(x_data);
    RunTruths<T>(static_cast<bool*>(out_data), n, [x](int64_t i) { return Row::Apply(x[i]); });
}

template <typename Row, typename T>
void RunCompare(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                void* out_data, int64_t n) {
    const T* x1 = static_cast<const T*>(x1_data);
    const T* x2 = static_cast<const T*>(x2_data);
    bool* out = static_cast<bool*>(out_data);
    if (step2 == 0) {
        RunTruths<T>(out, n, [x1, step1, value2 = *x2](int64_t i) {
            return Row::Apply(x1[i * step1], value2);
        });
    } else if (step1 == 0) {
        RunTruths<T>(out, n, [x2, value1 = *x1](int64_t i) { return Row::Apply(value1, x2[i]); });
    } else {
        RunTruths<T>(out, n, [x1, x2](int64_t i) { return Row::Apply(x1[i], x2[i]); });
    }
}

template <typename Row>
constexpr UnaryLoops UnaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunUnary<Row, float>, &RunUnary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr UnaryLoops PredicateRow() {
    return {&RunPredicate<Row, float>, &RunPredicate<Row, double>};
}
template <typename Row>
constexpr BinaryLoops BinaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunBinary<Row, float>, &RunBinary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr TernaryLoops TernaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunTernary<Row, float>, &RunTernary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr BinaryLoops CompareRow() {
    return {&RunCompare<Row, float>, &RunCompare<Row, double>};
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
