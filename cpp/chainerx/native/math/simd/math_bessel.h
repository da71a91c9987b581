// math:: the modified Bessel functions of the first kind, of orders 0 and 1.
//
// Up to 8 they are x^n times polynomials in x^2 / 4, whose coefficients are all positive, so
// nothing cancels; beyond, exp(x) / sqrt(x) times polynomials in 16 / x - 1. The coefficients are
// our own, interpolated at Chebyshev's points in 60 digits. Floats are computed in double, with
// fewer.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_normal.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

inline constexpr double kFarBessel = 8.0;

// I0(x) for 0 <= x <= 8.
template <typename T>
inline BatchD BesselNear0(const BatchD& x) {
    const BatchD y = x * x * BatchD(0.25);
    if constexpr (kForFloat<T>) {
        return Poly(y, 0x1.fffffffdcb230p-1, 0x1.00000013da385p+0, 0x1.fffffe2793d6dp-3,
                    0x1.c71c82f3c8de1p-6, 0x1.c71bcce4be7eep-10, 0x1.23490ba397e17p-14,
                    0x1.02ce550ab2805p-19, 0x1.531e4c09647c9p-25, 0x1.4c3cc00f7d4adp-31,
                    0x1.234c94c56c434p-37, 0x1.b83220c1e48a2p-45, 0x1.5d383bc4c1e51p-50);
    } else {
        return Poly(y, 0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.0000000000002p-2,
                    0x1.c71c71c71c6dfp-6, 0x1.c71c71c71cbe1p-10, 0x1.23456789a8318p-14,
                    0x1.02e85c08d260ap-19, 0x1.522a43f155552p-25, 0x1.522a444603fe2p-31,
                    0x1.0b312ee43b7c5p-37, 0x1.5601c7e411b36p-44, 0x1.69c76363ac35fp-51,
                    0x1.41b6c17a09391p-58, 0x1.e56f7ffb05c87p-66, 0x1.46a4446d3e276p-73,
                    0x1.31d00bad6ba1ap-81, 0x1.20d247d00eeebp-88);
    }
}
// sqrt(x) exp(-x) I0(x) for x >= 8.
template <typename T>
inline BatchD BesselFar0(const BatchD& x) {
    const BatchD t = BatchD(2.0 * kFarBessel) / x - BatchD(1.0);
    if constexpr (kForFloat<T>) {
        return Poly(t, 0x1.9bd428ace466cp-2, 0x1.b87969ad8ea15p-9, 0x1.1daad75177365p-13,
                    0x1.75e8b706d3b8dp-17, 0x1.8cb8c8ec27089p-20, 0x1.3c4383e6b0d90p-22,
                    0x1.c67d5abdc5f50p-24, 0x1.a260057098b05p-25, 0x1.890ca334d7dd2p-30,
                    -0x1.0549af0deb682p-27);
    } else {
        return Poly(t, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93bd2p-9, 0x1.1daa72b5e22b2p-13,
                    0x1.75e5ee6fabb85p-17, 0x1.8e513a7ddffecp-20, 0x1.3f49af1ca6576p-22,
                    0x1.7d0f0727d6a9dp-24, 0x1.51cb3832a6046p-25, 0x1.723509510cd4ap-26,
                    0x1.03fa571f405c2p-27, -0x1.cfe4f8bebe7e4p-28, -0x1.ceb2c3f3c2085p-27,
                    -0x1.72b4495699537p-28, 0x1.09d8aa3fc68b0p-27, 0x1.fcf3dd682ab36p-28,
                    -0x1.0c5d8b2e86f47p-28, -0x1.9683a45b51615p-28, 0x1.2159f0c508719p-29,
                    0x1.ee943d682b9f4p-29, -0x1.3ab3b1c19a518p-30, -0x1.b5e3e7f99d058p-30,
                    0x1.1998ba2c8ef47p-31, 0x1.ec7656d43152ap-32, -0x1.4b4eae130efc2p-33,
                    -0x1.03b4aa8a9e407p-34, 0x1.6e48b56608f90p-36);
    }
}

// I1(x) / (x / 2) for 0 <= x <= 8.
template <typename T>
inline BatchD BesselNear1(const BatchD& x) {
    const BatchD y = x * x * BatchD(0.25);
    if constexpr (kForFloat<T>) {
        return Poly(y, 0x1.ffffffffd638ep-1, 0x1.00000002efc9ap-1, 0x1.5555550f717a7p-4,
                    0x1.c71c76dc3cb7bp-8, 0x1.6c16909d0c135p-12, 0x1.845eb21d0b466p-17,
                    0x1.27d58edd575fep-22, 0x1.52baffe65364ap-28, 0x1.291241e309bb4p-34,
                    0x1.c830370b9fc2dp-41, 0x1.5ffa5ba179b0dp-48, 0x1.bb5e9645db2e2p-54);
    } else {
        return Poly(y, 0x1.0000000000000p+0, 0x1.0000000000000p-1, 0x1.5555555555556p-4,
                    0x1.c71c71c71c70fp-8, 0x1.6c16c16c16d20p-12, 0x1.845c8a0ce3807p-17,
                    0x1.27e4fb77a30bbp-22, 0x1.522a43f427f3bp-28, 0x1.2c9758fda3036p-34,
                    0x1.ab81e74959342p-41, 0x1.f176cf1f1237fp-48, 0x1.e260acd0c17e6p-55,
                    0x1.8be972f0e252ep-62, 0x1.159f90570389ap-69, 0x1.5ac53da80dc82p-77,
                    0x1.38dbeef3ff4f1p-85, 0x1.08fbc76dd1df0p-92);
    }
}
// sqrt(x) exp(-x) I1(x) for x >= 8.
template <typename T>
inline BatchD BesselFar1(const BatchD& x) {
    const BatchD t = BatchD(2.0 * kFarBessel) / x - BatchD(1.0);
    if constexpr (kForFloat<T>) {
        return Poly(t, 0x1.8ebe783ac82c6p-2, -0x1.3f79619513fb9p-7, -0x1.cbc5b8b9529cfp-13,
                    -0x1.f89f31bea253bp-17, -0x1.eadd4dc656c41p-20, -0x1.72c490a6947eep-22,
                    -0x1.fb0e5b3dc69f6p-24, -0x1.c9ef77019f9c2p-25, -0x1.4125acfc15804p-29,
                    0x1.0c324b2b14e6cp-27);
    } else {
        return Poly(t, 0x1.8ebe783a84030p-2, -0x1.3f796198ee63fp-7, -0x1.cbc54df1e894cp-13,
                    -0x1.f89c230446f74p-17, -0x1.ec8e107bd7eaap-20, -0x1.7613865ea6e9ap-22,
                    -0x1.ad8d43e5d60bep-24, -0x1.727702ec186d3p-25, -0x1.9191ff33370adp-26,
                    -0x1.21f47a4eb566bp-27, 0x1.ceff3cea7c3a4p-28, 0x1.e413f0678e137p-27,
                    0x1.99d190fe908dap-28, -0x1.0c96c7afcb02cp-27, -0x1.0e2bb88351649p-27,
                    0x1.05656ba38c1b6p-28, 0x1.aa440cf09ce30p-28, -0x1.11c9f66d690fcp-29,
                    -0x1.01ef463d9c576p-28, 0x1.268bd450a314cp-30, 0x1.c7aed1ee533f7p-30,
                    -0x1.07d06c81c1d24p-31, -0x1.fff33f3b3e75ap-32, 0x1.37bea5c8dbcccp-33,
                    0x1.0ddc7620a9205p-34, -0x1.5a29b473f1663p-36);
    }
}

// `near` for |x| <= 8; beyond, `far` times exp(x), applied in two halves to stay in range.
inline BatchD JoinBessel(const BatchD& a, const BatchD& near, const BatchD& far) {
    const BatchD half = Exp(a * BatchD(0.5));
    const BatchD beyond = half * (far / xsimd::sqrt(a)) * half;
    return Where(a < BatchD(kFarBessel), near, Where(a < BatchD(__builtin_inf()), beyond, a));
}
inline BatchD JoinScaledBessel(const BatchD& a, const BatchD& near, const BatchD& far) {
    return Where(a < BatchD(kFarBessel), near * Exp(Negate(a)), far / xsimd::sqrt(a));
}

template <typename T>
struct I0Of {
    static BatchD Apply(const BatchD& x) {
        const BatchD a = Abs(x);
        return JoinBessel(a, BesselNear0<T>(a), BesselFar0<T>(a));
    }
};
template <typename T>
struct I0eOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD a = Abs(x);
        return JoinScaledBessel(a, BesselNear0<T>(a), BesselFar0<T>(a));
    }
};
template <typename T>
struct I1Of {
    static BatchD Apply(const BatchD& x) {
        const BatchD a = Abs(x);
        const BatchD near = a * BatchD(0.5) * BesselNear1<T>(a);
        return Copysign(JoinBessel(a, near, BesselFar1<T>(a)), x);
    }
};
template <typename T>
struct I1eOf {
    static BatchD Apply(const BatchD& x) {
        const BatchD a = Abs(x);
        const BatchD near = a * BatchD(0.5) * BesselNear1<T>(a);
        return Copysign(JoinScaledBessel(a, near, BesselFar1<T>(a)), x);
    }
};

// ---- derivatives

// The sum of 1 and terms of one sign, each computed by next(term, k) from the one before. Each lane
// stops when its terms no longer count, so it does not depend on the other lanes.
template <typename T, typename Next>
inline BatchD SumOfTerms(const Next& next) {
    constexpr int kTogether = 4;
    const BatchD no_more{kForFloat<T> ? 0x1p-33 : 0x1p-56};
    BatchD term{1.0};
    BatchD sum{1.0};
    for (int k = 0;; k += kTogether) {
        const auto goes_on = term > sum * no_more;
        if (!xsimd::any(goes_on)) return sum;
        term = Where(goes_on, term, BatchD(0.0));
        for (int j = k; j < k + kTogether; ++j) {
            term = next(term, j);
            sum = sum + term;
        }
    }
}

// The sum over k of (x^2 / 4)^k / (k! (n + k)!) / 2^n; all terms have one sign.
template <typename T>
inline BatchD BesselRatioNear(const BatchD& a, int n) {
    const BatchD y = a * a * BatchD(0.25);
    if (n == 1) return BesselNear1<T>(a) * BatchD(0.5);
    double first = 1;
    for (int k = 1; k <= n; ++k) first /= 2 * k;
    return BatchD(first) * SumOfTerms<T>([&](const BatchD& term, int k) {
               return term * (y * BatchD(1.0 / ((k + 1.0) * (n + k + 1.0))));
           });
}
// sqrt(x) exp(-x) In(x) / x^n, by the recurrence from orders 0 and 1, which is stable for n < x.
template <typename T>
inline BatchD BesselRatioFar(const BatchD& a, int n) {
    BatchD before = BesselFar0<T>(a);
    if (n == 0) return before;
    const BatchD inverse = BatchD(1.0) / a;
    BatchD y = BesselFar1<T>(a) * inverse;
    for (int k = 1; k < n; ++k) {
        const BatchD next = (before - BatchD(2.0 * k) * y) * (inverse * inverse);
        before = y;
        y = next;
    }
    return y;
}
template <typename T>
struct BesselRatioOf {
    static BatchD Apply(const BatchD& x, int n) {
        constexpr double kInRange = 1500;  // far beyond it exp(x / 2) is out of range
        const BatchD a = Abs(x);
        const BatchD from = BatchD(n <= 4 ? kFarBessel : 4.0 * n);
        const auto is_near = a < from;
        const BatchD near = BesselRatioNear<T>(Where(is_near, a, BatchD(0.0)), n);
        if (xsimd::all(is_near)) return near;
        const BatchD b = Where(is_near, from, a);
        const BatchD half = Exp(b * BatchD(0.5));
        const BatchD far = half * (BesselRatioFar<T>(b, n) / xsimd::sqrt(b)) * half;
        const BatchD beyond = Where(a < BatchD(kInRange), far, a * BatchD(__builtin_inf()));
        return Where(is_near, near, beyond);
    }
};

// The mean of t^n exp(-a t) for t = 1 - cos(angle): Kummer's function, transformed so that all
// terms are positive (DLMF 13.4.1, 13.2.39).
template <typename T>
inline BatchD BesselMomentNear(const BatchD& a, int n) {
    double first = 1;
    for (int k = 0; k < n; ++k) first *= (2.0 * k + 1) / (k + 1);
    const BatchD sum = SumOfTerms<T>([&](const BatchD& term, int k) {
        return term * (a * BatchD((2.0 * k + 1) / ((n + 1.0 + k) * (k + 1.0))));
    });
    return BatchD(first) * sum * Exp(a * BatchD(-2.0));
}
// Expands 1 / sqrt(1 - t / 2) in powers of t / 2 and integrates to infinity; all terms are
// positive.
template <typename T>
inline BatchD BesselMomentFar(const BatchD& a, int n) {
    const BatchD inverse = BatchD(1.0) / a;
    BatchD first = xsimd::sqrt(inverse) * BatchD(0.39894228040143267794);
    for (int k = 0; k < n; ++k) first = first * (inverse * BatchD(k + 0.5));
    return first * SumOfTerms<T>([&](const BatchD& term, int k) {
               const BatchD ratio = inverse * BatchD((k + 0.5) * (n + k + 0.5) / (2.0 * (k + 1)));
               return Where(ratio < BatchD(1.0), term * ratio, BatchD(0.0));
           });
}
template <typename T>
struct BesselMomentOf {
    static BatchD Apply(const BatchD& x, int n) {
        const BatchD from = BatchD(kForFloat<T> ? 16.0 : 25.0);
        const BatchD a = Abs(x);
        // Order 1 is the difference of i0e and i1e, which loses four bits at most.
        const auto is_nearer = a < BatchD(n == 1 ? kFarBessel : 0.0);
        const BatchD b = Where(is_nearer, a, BatchD(0.0));
        const BatchD nearer =
            (BesselNear0<T>(b) - b * BatchD(0.5) * BesselNear1<T>(b)) * Exp(Negate(b));
        if (xsimd::all(is_nearer)) return nearer;
        const auto is_near = a < from;
        const BatchD between = Where(is_near, a, BatchD(0.0));
        const BatchD near = Where(is_nearer, nearer,
                                  BesselMomentNear<T>(Where(is_nearer, BatchD(0.0), between), n));
        if (xsimd::all(is_near)) return near;
        return Where(is_near, near, BesselMomentFar<T>(Where(is_near, from, a), n));
    }
};

// `order` is an integer, the same in all lanes.
template <template <typename> typename F>
inline BatchD InDouble(const BatchD& x, const BatchD& order) {
    return F<double>::Apply(x, static_cast<int>(order.get(0)));
}
template <template <typename> typename F>
inline BatchF InDouble(const BatchF& x, const BatchF& order) {
    const PairD wide = Widen(x);
    const int n = static_cast<int>(order.get(0));
    return Narrow({F<float>::Apply(wide.low, n), F<float>::Apply(wide.high, n)});
}

template <typename T>
inline Batch<T> BesselRatio(const Batch<T>& x, const Batch<T>& order) {
    return InDouble<BesselRatioOf>(x, order);
}
template <typename T>
inline Batch<T> BesselMoment(const Batch<T>& x, const Batch<T>& order) {
    return InDouble<BesselMomentOf>(x, order);
}
CX_IN_DOUBLE(I0)
CX_IN_DOUBLE(I0e)
CX_IN_DOUBLE(I1)
CX_IN_DOUBLE(I1e)

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
