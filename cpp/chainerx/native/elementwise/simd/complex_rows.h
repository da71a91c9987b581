// SIMD complex loops of arithmetic.def: the lightest ones leave real and imaginary parts
// interleaved. Include after native/elementwise/op_table.h.
#pragma once

#include <complex>
#include <type_traits>

#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/elementwise/simd/complex_lanes.h"
#include "chainerx/native/elementwise/simd/complex_parts.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename Row>
inline constexpr bool kIsProduct =
    std::is_same_v<Row, rows::Multiply> || std::is_same_v<Row, rows::Square>;
template <typename Row>
inline constexpr bool kIsQuotient =
    std::is_same_v<Row, rows::Divide> || std::is_same_v<Row, rows::Reciprocal>;
template <typename Row>
inline constexpr bool kHasComplexLoop =
    kIsProduct<Row> || kIsQuotient<Row> || std::is_same_v<Row, rows::Add> ||
    std::is_same_v<Row, rows::Subtract>;

// 1, with a zero imaginary part.
template <typename T>
inline Batch<T> ComplexOne() {
    alignas(64) T one[Batch<T>::size];
    for (int64_t i = 0; i < int64_t{Batch<T>::size}; ++i) one[i] = i % 2 == 0 ? T(1) : T(0);
    return Batch<T>::load_aligned(one);
}

template <typename Row, typename T>
inline Batch<T> ApplyToLanes(const Batch<T>& a, const Batch<T>& b, const Batch<T>& real_signs) {
    if constexpr (kIsProduct<Row>) {
        return ComplexProduct(a, b, real_signs);
    } else if constexpr (std::is_same_v<Row, rows::Divide>) {
        return ComplexQuotient(a, b);
    } else if constexpr (std::is_same_v<Row, rows::Reciprocal>) {
        return ComplexQuotient(ComplexOne<T>(), b);
    } else if constexpr (std::is_same_v<Row, rows::Add>) {
        return a + b;
    } else {
        return a - b;
    }
}

// T is the type of a part.
template <typename Row, typename T>
void RunComplex(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                void* out_data, int64_t n) {
    constexpr int64_t kWidth = Batch<T>::size;
    const auto* x1 = static_cast<const T*>(x1_data);
    const auto* x2 = static_cast<const T*>(x2_data);
    auto* out = static_cast<T*>(out_data);
    // A scalar becomes a batch in memory that is read repeatedly.
    alignas(64) T value1[kWidth];
    alignas(64) T value2[kWidth];
    const auto repeat = [](const T* x, T* value) {
        for (int64_t i = 0; i < kWidth; ++i) value[i] = x[i % 2];
        return static_cast<const T*>(value);
    };
    if (step1 == 0) x1 = repeat(x1, value1);
    if (step2 == 0) x2 = repeat(x2, value2);
    const Batch<T> signs = SignsOf<T>(0);
    const auto load = [](const T* x) { return Batch<T>::load_unaligned(x); };
    n *= 2;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        ApplyToLanes<Row>(load(x1 + i * step1), load(x2 + i * step2), signs)
            .store_unaligned(out + i);
    }
    if (i == n) return;
    const auto part = [rest = n - i](const T* x) { return LoadPart(x, rest); };
    const Batch<T> y = ApplyToLanes<Row>(part(x1 + i * step1), part(x2 + i * step2), signs);
    StorePart(out + i, y, n - i);
}

template <typename Row, typename T>
void RunComplexUnary(const void* x, void* out, int64_t n) {
    RunComplex<Row, T>(x, 1, x, 1, out, n);
}

template <typename Row, typename T>
    requires kHasComplexLoop<Row>
constexpr BinaryLoop ComplexBinary() {
    return &RunComplex<Row, T>;
}
template <typename Row, typename T>
    requires kHasComplexLoop<Row>
constexpr UnaryLoop ComplexUnary() {
    return &RunComplexUnary<Row, T>;
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
