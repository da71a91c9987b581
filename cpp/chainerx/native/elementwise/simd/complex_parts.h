// SIMD loops of rows over complex numbers whose parts are taken apart (native/math/simd/
// math_complex.h).
#pragma once

#include <complex>
#include <cstdint>

#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/native/elementwise/loops.h"
#include "chainerx/native/math/simd/math_complex.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
inline ComplexBatch<T> LoadParts(const T* x) {
    const auto z =
        xsimd::batch<std::complex<T>>::load_unaligned(reinterpret_cast<const std::complex<T>*>(x));
    return {z.real(), z.imag()};
}
template <typename T>
inline void StoreParts(T* out, const ComplexBatch<T>& y) {
    xsimd::batch<std::complex<T>>(y.real, y.imag)
        .store_unaligned(reinterpret_cast<std::complex<T>*>(out));
}

template <typename Row, typename T, typename... X>
[[gnu::always_inline]] inline void RunParts(T* out, int64_t n, const X&... loads) {
    constexpr int64_t kWidth = Batch<T>::size;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) StoreParts(out + 2 * i, Row::Apply(loads(i, kWidth)...));
    if (i == n) return;
    alignas(64) T rest[2 * kWidth];
    StoreParts(rest, Row::Apply(loads(i, n - i)...));
    for (int64_t k = 0; k < 2 * (n - i); ++k) out[2 * i + k] = rest[k];
}
// Reads the parts from element i on; those beyond `count` are 0.
template <typename T>
inline ComplexBatch<T> LoadSome(const T* x, int64_t count) {
    constexpr int64_t kWidth = Batch<T>::size;
    if (count == kWidth) return LoadParts(x);
    alignas(64) T some[2 * kWidth] = {};
    for (int64_t k = 0; k < 2 * count; ++k) some[k] = x[k];
    return LoadParts(some);
}

template <typename Row, typename T>
void RunPartsUnary(const void* x_data, void* out_data, int64_t n) {
    const T* x = static_cast<const T*>(x_data);
    RunParts<Row>(static_cast<T*>(out_data), n,
                  [x](int64_t i, int64_t count) { return LoadSome(x + 2 * i, count); });
}
template <typename Row, typename T>
void RunPartsBinary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                    void* out_data, int64_t n) {
    if (n == 0) return;  // there may be no first element
    const auto loader = [](const void* data, int64_t step) {
        const T* x = static_cast<const T*>(data);
        const ComplexBatch<T> value{Batch<T>(x[0]), Batch<T>(x[1])};
        return [x, step, value](int64_t i, int64_t count) {
            return step == 0 ? value : LoadSome(x + 2 * i, count);
        };
    };
    RunParts<Row>(static_cast<T*>(out_data), n, loader(x1_data, step1), loader(x2_data, step2));
}

// T is the type of a part.
template <typename Row, typename T>
constexpr UnaryLoop ComplexUnary() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kComplex64))
        return &RunPartsUnary<Row, T>;
    else
        return nullptr;
}
template <typename Row, typename T>
constexpr BinaryLoop ComplexBinary() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kComplex64))
        return &RunPartsBinary<Row, T>;
    else
        return nullptr;
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
