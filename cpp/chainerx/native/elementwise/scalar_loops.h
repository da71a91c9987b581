// Scalar loops of one table row (native/elementwise/op_table.h): for integers, bool and complex
// numbers, auto-vectorized where possible.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/native/elementwise/complex_number.h"
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/elementwise/scalar_math.h"

namespace chainerx::native {
namespace {

template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename Row, typename T>
concept HasScalarLoop = kIsInteger<T> && requires(T x) { Row::WithScalar(x, math::AnyScalar{}); };
template <typename Row, typename T>
concept HasPairLoop = kIsInteger<T> && requires(T x) { Row::WithScalar(x, math::AnyArray{}); };

// Handles bool as a byte: the compiler has no vectors of bool.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
// The compute type of an element.
template <typename T>
struct NumberOf {
    using Type = ComputeType<T>;
};
template <typename T>
struct NumberOf<std::complex<T>> {
    using Type = ComplexNumber<T>;
};
template <typename T>
inline typename NumberOf<T>::Type Compute(Stored<T> x) {
    if constexpr (std::is_same_v<T, bool>)
        return x != 0;
    else
        return static_cast<typename NumberOf<T>::Type>(x);
}

// Out is T or bool.
template <typename Row, typename T, typename Out>
void ScalarUnary(const void* x_data, void* out_data, int64_t n) {
    using C = typename NumberOf<T>::Type;
    const auto* x = static_cast<const Stored<T>*>(x_data);
    auto* out = static_cast<Stored<Out>*>(out_data);
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<Stored<Out>>(Row::template Apply<C>(Compute<T>(x[i])));
    }
}

template <typename Row, typename T, typename Out>
void ScalarBinary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                  void* out_data, int64_t n) {
    if constexpr (HasScalarLoop<Row, T>) {
        if (step1 == 1 && step2 == 0) {
            return Row::WithScalar(T{}, math::AnyScalar{})(x1_data, 1, x2_data, 0, out_data, n);
        }
    }
    if constexpr (HasPairLoop<Row, T>) {
        Row::WithScalar(T{}, math::AnyArray{})(x1_data, step1, x2_data, step2, out_data, n);
    } else {
        using C = typename NumberOf<T>::Type;
        const auto* x1 = static_cast<const Stored<T>*>(x1_data);
        const auto* x2 = static_cast<const Stored<T>*>(x2_data);
        auto* out = static_cast<Stored<Out>*>(out_data);
        const auto apply = [](Stored<T> a, Stored<T> b) {
            return static_cast<Stored<Out>>(Row::template Apply<C>(Compute<T>(a), Compute<T>(b)));
        };
        if (step2 == 0) {
            const auto value = *x2;
            for (int64_t i = 0; i < n; ++i) out[i] = apply(x1[i * step1], value);
        } else if (step1 == 0) {
            const auto value = *x1;
            for (int64_t i = 0; i < n; ++i) out[i] = apply(value, x2[i]);
        } else {
            for (int64_t i = 0; i < n; ++i) out[i] = apply(x1[i], x2[i]);
        }
    }
}

template <typename Row, typename T>
void ScalarTernary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                   const void* x3_data, int64_t step3, void* out_data, int64_t n) {
    using C = typename NumberOf<T>::Type;
    const auto* x1 = static_cast<const Stored<T>*>(x1_data);
    const auto* x2 = static_cast<const Stored<T>*>(x2_data);
    const auto* x3 = static_cast<const Stored<T>*>(x3_data);
    auto* out = static_cast<Stored<T>*>(out_data);
    const auto apply = [](Stored<T> a, Stored<T> b, Stored<T> c) {
        return static_cast<Stored<T>>(
            Row::template Apply<C>(Compute<T>(a), Compute<T>(b), Compute<T>(c)));
    };
    if (step1 == 1 && step2 == 0 && step3 == 0) {
        const auto value2 = *x2;
        const auto value3 = *x3;
        for (int64_t i = 0; i < n; ++i) out[i] = apply(x1[i], value2, value3);
    } else if (step1 == 1 && step2 == 1 && step3 == 1) {
        for (int64_t i = 0; i < n; ++i) out[i] = apply(x1[i], x2[i], x3[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) out[i] = apply(x1[i * step1], x2[i * step2], x3[i * step3]);
    }
}

}  // namespace
}  // namespace chainerx::native
