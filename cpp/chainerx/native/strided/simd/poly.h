// Polynomials of batches. Included by batch.h, and by the batch of one lane that kernels of other
// devices have (cuda/device/batch.h).
#pragma once

namespace chainerx::native::CX_ISA {
namespace {

// c0 + c1 x + c2 x^2 + ... in two interleaved chains, which halves the latency of Horner's rule.
template <typename B, typename... C>
inline B Poly(const B& x, C... coefficients) {
    using T = typename B::value_type;
    const T c[] = {static_cast<T>(coefficients)...};
    constexpr int kCount = sizeof...(C);
    if constexpr (kCount <= 4) {
        B y = B(c[kCount - 1]);
        for (int i = kCount - 2; i >= 0; --i) y = xsimd::fma(y, x, B(c[i]));
        return y;
    } else {
        const B xx = x * x;
        B even = B(c[(kCount - 1) & ~1]);
        for (int i = ((kCount - 1) & ~1) - 2; i >= 0; i -= 2) even = xsimd::fma(even, xx, B(c[i]));
        B odd = B(c[(kCount & ~1) - 1]);
        for (int i = (kCount & ~1) - 3; i >= 1; i -= 2) odd = xsimd::fma(odd, xx, B(c[i]));
        return xsimd::fma(odd, x, even);
    }
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
