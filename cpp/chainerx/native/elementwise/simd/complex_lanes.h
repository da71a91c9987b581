// Complex numbers in registers, real and imaginary parts interleaved.
#pragma once

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// Permutations of lanes: swap the parts; broadcast the real part; broadcast the imaginary part.
struct OtherPart {
    static constexpr size_t get(size_t i, size_t) { return i ^ 1; }
};
struct RealPart {
    static constexpr size_t get(size_t i, size_t) { return i & ~size_t{1}; }
};
struct ImaginaryPart {
    static constexpr size_t get(size_t i, size_t) { return i | 1; }
};
template <typename Order, typename T>
inline Batch<T> InOrder(const Batch<T>& x) {
    using Index = xsimd::as_unsigned_integer_t<T>;
    constexpr auto kLanes =
        xsimd::make_batch_constant<Index, Order, typename Batch<T>::arch_type>();
    return xsimd::swizzle(x, kLanes);
}

// -0 in the lanes of one part, 0 in the others.
template <typename T>
inline Batch<T> SignsOf(int part) {
    alignas(64) T signs[Batch<T>::size];
    for (int64_t i = 0; i < int64_t{Batch<T>::size}; ++i) signs[i] = i % 2 == part ? T(-0.0) : T(0);
    return Batch<T>::load_aligned(signs);
}

// `real_signs` is SignsOf(0). Rounds as the scalar code does: a product, then the sum.
template <typename T>
inline Batch<T> ComplexProduct(const Batch<T>& a, const Batch<T>& b, const Batch<T>& real_signs) {
    const Batch<T> alike = InOrder<RealPart>(a) * b;
    const Batch<T> unlike = InOrder<ImaginaryPart>(a) * InOrder<OtherPart>(b);
    return alike + (unlike ^ real_signs);
}

// Smith's method, step by step as in ComplexNumber.
template <typename T>
inline Batch<T> ComplexQuotient(const Batch<T>& a, const Batch<T>& b) {
    using B = Batch<T>;
    const B real = InOrder<RealPart>(b);
    const B imag = InOrder<ImaginaryPart>(b);
    const auto by_real = xsimd::abs(real) >= xsimd::abs(imag);
    const B large = xsimd::select(by_real, real, imag);
    const B small = xsimd::select(by_real, imag, real);
    const B ratio = small / large;
    const B scale = B(T(1)) / (large + small * ratio);
    const B other = InOrder<OtherPart>(a) ^ SignsOf<T>(1);
    const B first = xsimd::select(by_real, a, other);
    const B second = xsimd::select(by_real, other, a);
    const B y = (first + second * ratio) * scale;
    const auto is_zero = by_real & (large == B(T(0)));
    if (!xsimd::any(is_zero)) [[likely]]
        return y;
    return xsimd::select(is_zero, a / xsimd::abs(large), y);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
