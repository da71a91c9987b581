// Complex numbers in batches, real and imaginary parts apart, and math:: of them: as Kahan, "Branch
// cuts for complex elementary functions" (1987), with the infinities and NaNs of annex G of C.
#pragma once

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/math/simd/math_hyperbolic.h"
#include "chainerx/native/math/simd/math_power.h"
#include "chainerx/native/math/simd/math_trigonometric.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
struct ComplexBatch {
    using Part = Batch<T>;

    Batch<T> real;
    Batch<T> imag;

    ComplexBatch() = default;
    ComplexBatch(const Batch<T>& x, const Batch<T>& y) : real{x}, imag{y} {}
    explicit ComplexBatch(T x) : real{x}, imag{T(0)} {}

    friend ComplexBatch operator+(const ComplexBatch& a, const ComplexBatch& b) {
        return {a.real + b.real, a.imag + b.imag};
    }
    friend ComplexBatch operator-(const ComplexBatch& a, const ComplexBatch& b) {
        return {a.real - b.real, a.imag - b.imag};
    }
    friend ComplexBatch operator*(const ComplexBatch& a, const ComplexBatch& b) {
        return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
    }
    friend ComplexBatch operator*(const ComplexBatch& a, T b) {
        return {a.real * Batch<T>(b), a.imag * Batch<T>(b)};
    }
    // Smith's method, step by step as in ComplexNumber.
    friend ComplexBatch operator/(const ComplexBatch& a, const ComplexBatch& b) {
        using B = Batch<T>;
        const auto by_real = xsimd::abs(b.real) >= xsimd::abs(b.imag);
        const B large = xsimd::select(by_real, b.real, b.imag);
        const B ratio = xsimd::select(by_real, b.imag, b.real) / large;
        const B scale = B(T(1)) / (large + xsimd::select(by_real, b.imag, b.real) * ratio);
        const B minus_real = a.real ^ B(T(-0.0));
        const B y = (xsimd::select(by_real, a.real, a.imag) +
                     xsimd::select(by_real, a.imag, a.real) * ratio) *
                    scale;
        const B z = (xsimd::select(by_real, a.imag, minus_real) +
                     xsimd::select(by_real, minus_real, a.imag) * ratio) *
                    scale;
        const auto is_zero = by_real & (large == B(T(0)));
        const B zero = xsimd::abs(large);
        return {xsimd::select(is_zero, a.real / zero, y), xsimd::select(is_zero, a.imag / zero, z)};
    }
};

namespace math {

template <typename T>
inline ComplexBatch<T> Where(const xsimd::batch_bool<T>& condition, const ComplexBatch<T>& x,
                             const ComplexBatch<T>& y) {
    return {Where(condition, x.real, y.real), Where(condition, x.imag, y.imag)};
}
template <typename T>
inline ComplexBatch<T> Negate(const ComplexBatch<T>& z) {
    return {Negate(z.real), Negate(z.imag)};
}
// i z and -i z
template <typename T>
inline ComplexBatch<T> TurnLeft(const ComplexBatch<T>& z) {
    return {Negate(z.imag), z.real};
}
template <typename T>
inline ComplexBatch<T> TurnRight(const ComplexBatch<T>& z) {
    return {z.imag, Negate(z.real)};
}

template <typename T>
inline Batch<T> Infinity() {
    return Batch<T>(std::numeric_limits<T>::infinity());
}
template <typename T>
inline xsimd::batch_bool<T> IsFinitePart(const Batch<T>& x) {
    return xsimd::abs(x) < Infinity<T>();
}
template <typename T>
inline xsimd::batch_bool<T> IsInfinitePart(const Batch<T>& x) {
    return xsimd::abs(x) == Infinity<T>();
}
template <typename T>
inline xsimd::batch_bool<T> IsZeroPart(const Batch<T>& x) {
    return x == Batch<T>(T(0));
}

// Absolute value. If neither the sum of squares nor its significant terms leave the normal range,
// the direct formula is used, within 1.25 ulp. The choice is per number, so that a result does not
// depend on its neighbors, which may all take the other path.
template <typename T>
inline Batch<T> Abs(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B sum = z.real * z.real + z.imag * z.imag;
    const auto is_usual = (sum >= B(T(sizeof(T) == 4 ? 0x1p-96 : 0x1p-900))) &
                          (sum <= B(std::numeric_limits<T>::max()));
    const B root = xsimd::sqrt(sum);
    if (xsimd::all(is_usual)) [[likely]]
        return root;
    return Where(is_usual, root, Hypot(z.real, z.imag));
}

// exp(x), sinh(x) and cosh(x) as products with `scale`, so that they overflow only if a product
// with a sine does.
template <typename T>
inline constexpr T kScaledFrom = sizeof(T) == 4 ? T(80) : T(700);
template <typename T>
inline constexpr T kExpScale = T(sizeof(T) == 4 ? 0x1.55779cp+115 : 0x1.d945df4f8ec8ep+1009);
template <typename T>
struct ScaledPair {
    Batch<T> odd;
    Batch<T> even;
    Batch<T> scale;
};
template <typename T>
inline ScaledPair<T> ScaledHyperbolic(const Batch<T>& x) {
    using B = Batch<T>;
    const B a = xsimd::abs(x);
    const auto is_scaled = a > B(kScaledFrom<T>);
    if (!xsimd::any(is_scaled)) [[likely]]
        return {Sinh(x), Cosh(x), B(T(1))};
    const B half = Exp(a - B(kScaledFrom<T>)) * B(T(0.5));
    return {Where(is_scaled, Copysign(half, x), Sinh(x)), Where(is_scaled, half, Cosh(x)),
            Where(is_scaled, B(kExpScale<T>), B(T(1)))};
}

template <typename T>
inline ComplexBatch<T> Exp(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const auto is_scaled = z.real > B(kScaledFrom<T>);
    const B value = Exp(Where(is_scaled, z.real - B(kScaledFrom<T>), z.real));
    const B scale = Where(is_scaled, B(kExpScale<T>), B(T(1)));
    ComplexBatch<T> y{value * Cos(z.imag) * scale, value * Sin(z.imag) * scale};
    y.imag = Where(IsZeroPart(z.imag), z.imag, y.imag);
    const auto is_lost = IsInfinitePart(z.real) & !IsFinitePart(z.imag);
    if (!xsimd::any(is_lost)) [[likely]]
        return y;
    const auto is_positive = z.real > B(T(0));
    return {Where(is_lost, Where(is_positive, z.real, B(T(0))), y.real),
            Where(is_lost & !is_positive, Copysign(B(T(0)), z.imag), y.imag)};
}
template <typename T>
inline ComplexBatch<T> Exp2(const ComplexBatch<T>& z) {
    return Exp(z * T(0x1.62e42fefa39efp-1));
}
// Accurate near 0, as expm1 of real numbers.
template <typename T>
inline ComplexBatch<T> Expm1(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B sine = Sin(z.imag * B(T(0.5)));
    const ComplexBatch<T> y{Expm1(z.real) * Cos(z.imag) - B(T(2)) * sine * sine,
                            Exp(z.real) * Sin(z.imag)};
    const auto is_finite = IsFinitePart(z.real) & IsFinitePart(z.imag);
    if (xsimd::all(is_finite)) [[likely]]
        return y;
    const ComplexBatch<T> far = Exp(z);
    return Where(is_finite, y, ComplexBatch<T>{far.real - B(T(1)), far.imag});
}

template <typename T>
inline ComplexBatch<T> Sinh(const ComplexBatch<T>& z) {
    const ScaledPair<T> h = ScaledHyperbolic(z.real);
    const Batch<T> real = h.odd * Cos(z.imag) * h.scale;
    const Batch<T> imag = h.even * Sin(z.imag) * h.scale;
    const auto is_real = (IsZeroPart(z.real) | IsInfinitePart(z.real)) & !IsFinitePart(z.imag);
    const Batch<T> border = Where(IsZeroPart(z.real), z.real, Infinity<T>());
    return {Where(is_real, border, real), Where(IsZeroPart(z.imag), z.imag, imag)};
}
template <typename T>
inline ComplexBatch<T> Cosh(const ComplexBatch<T>& z) {
    const ScaledPair<T> h = ScaledHyperbolic(z.real);
    const Batch<T> real = h.even * Cos(z.imag) * h.scale;
    const Batch<T> imag = h.odd * Sin(z.imag) * h.scale;
    const auto is_real = IsInfinitePart(z.real) & !IsFinitePart(z.imag);
    const auto is_zero =
        (IsZeroPart(z.real) & !IsFinitePart(z.imag)) | (IsZeroPart(z.imag) & !IsFinitePart(h.odd));
    const Batch<T> zero = xsimd::bitofsign(z.real) ^ xsimd::bitofsign(z.imag);
    return {Where(is_real, Infinity<T>(), real), Where(is_zero, zero, imag)};
}
template <typename T>
inline ComplexBatch<T> Tanh(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B sine = Sin(z.imag);
    const B cosine = Cos(z.imag);
    const B sinh = Sinh(z.real);
    const B divisor = sinh * sinh + cosine * cosine;
    B real = sinh * Cosh(z.real) / divisor;
    B imag = sine * cosine / divisor;
    const B a = xsimd::abs(z.real);
    const auto is_far = a > B(sizeof(T) == 4 ? T(10) : T(22));
    if (xsimd::any(is_far)) {
        const B rest = B(T(4)) * (sine * cosine) * Exp(B(T(-2)) * a);
        const auto is_lost = IsInfinitePart(z.real) & !IsFinitePart(z.imag);
        const B one = Copysign(B(T(1)), z.real);
        real = Where(is_far, Where(is_lost | IsFinitePart(z.imag), one, sine), real);
        imag = Where(is_far, Where(is_lost, Copysign(B(T(0)), z.imag), rest), imag);
    }
    return {Where(IsZeroPart(z.real), z.real, real), Where(IsZeroPart(z.imag), z.imag, imag)};
}
template <typename T>
inline ComplexBatch<T> Sin(const ComplexBatch<T>& z) {
    return TurnRight(Sinh(TurnLeft(z)));
}
template <typename T>
inline ComplexBatch<T> Cos(const ComplexBatch<T>& z) {
    return Cosh(TurnLeft(z));
}
template <typename T>
inline ComplexBatch<T> Tan(const ComplexBatch<T>& z) {
    return TurnRight(Tanh(TurnLeft(z)));
}

// a + b + c of which the first two may cancel, with the error of their sum.
template <typename T>
inline Batch<T> SumOfParts(const Batch<T>& a, const Batch<T>& b, const Batch<T>& c) {
    const Batch<T> sum = a + b;
    const Batch<T> back = sum - a;
    return sum + (((a - (sum - back)) + (b - back)) + c);
}
// log(|x + i y|): from |x + i y|^2 - 1 if that is near 0.
template <typename T>
inline Batch<T> LogOfMagnitude(const Batch<T>& x, const Batch<T>& y) {
    using B = Batch<T>;
    const B ax = xsimd::abs(x);
    const B ay = xsimd::abs(y);
    const auto swapped = ax < ay;  // NaN is not swapped
    const B large = Where(swapped, ay, ax);
    const B small = Where(swapped, ax, ay);
    const B quotient = small / large;
    const B ratio = Where(IsZeroPart(small) | IsInfinitePart(large), B(T(0)), quotient);
    const B log = Log(large) + B(T(0.5)) * Log1p(ratio * ratio);
    const B a = large * large;
    const B b = small * small;
    const auto is_near = (a + b > B(T(0.5))) & (a + b < B(T(2)));
    B result = log;
    if (xsimd::any(is_near)) {
        const B minus_one(T(-1));
        const B less = a + minus_one;
        const B less_back = less - minus_one;
        const B low = (minus_one - (less - less_back)) + (a - less_back);
        const B errors = (ProductError(large, large, a) + ProductError(small, small, b)) + low;
        result = Where(is_near, B(T(0.5)) * Log1p(SumOfParts(less, b, errors)), log);
    }
    return Where(IsInfinitePart(ax) | IsInfinitePart(ay), Infinity<T>(), result);
}
template <typename T>
inline ComplexBatch<T> Log(const ComplexBatch<T>& z) {
    return {LogOfMagnitude(z.real, z.imag), Atan2(z.imag, z.real)};
}
template <typename T>
inline ComplexBatch<T> Log2(const ComplexBatch<T>& z) {
    return Log(z) * T(0x1.71547652b82fep+0);
}
template <typename T>
inline ComplexBatch<T> Log10(const ComplexBatch<T>& z) {
    return Log(z) * T(0x1.bcb7b1526e50ep-2);
}
// Computed from |1 + z|^2 - 1 near 0.
template <typename T>
inline ComplexBatch<T> Log1p(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B next = z.real + B(T(1));
    const B square = z.imag * z.imag;
    const auto is_near = z.real * z.real + square < B(T(0.25));
    const B near = Log1p(z.real * (B(T(2)) + z.real) + square) * B(T(0.5));
    return {Where(is_near, near, LogOfMagnitude(next, z.imag)), Atan2(z.imag, next)};
}

template <typename T>
inline ComplexBatch<T> Sqrt(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    // After scaling by a power of 4 sums neither overflow nor lose digits.
    constexpr T kBig = T(sizeof(T) == 4 ? 0x1p120 : 0x1p1000);
    constexpr T kSmall = T(sizeof(T) == 4 ? 0x1p-90 : 0x1p-900);
    constexpr T kUp = T(sizeof(T) == 4 ? 0x1p80 : 0x1p800);
    constexpr T kBack = T(sizeof(T) == 4 ? 0x1p-40 : 0x1p-400);
    const auto is_big = (xsimd::abs(z.real) > B(kBig)) | (xsimd::abs(z.imag) > B(kBig));
    const auto is_small = (xsimd::abs(z.real) < B(kSmall)) & (xsimd::abs(z.imag) < B(kSmall));
    const B scale = Where(is_big, B(T(0.0625)), Where(is_small, B(kUp), B(T(1))));
    const B back = Where(is_big, B(T(4)), Where(is_small, B(kBack), B(T(1))));
    const B x = z.real * scale;
    const B y = z.imag * scale;
    const B root = xsimd::sqrt((xsimd::abs(x) + Hypot(x, y)) * B(T(0.5)));
    const B other = Where(IsZeroPart(root), B(T(0)), xsimd::abs(y) / (root + root));
    const auto is_left = x < B(T(0));
    const B real = Where(is_left, other, root) * back;
    const B imag = Copysign(Where(is_left, root, other) * back, z.imag);
    const auto is_far = IsInfinitePart(z.imag);
    return {Where(is_far, Infinity<T>(), real), Where(is_far, z.imag, imag)};
}

// Beyond, z^2 - 1 is z^2. A NaN beside a finite number is not far.
template <typename T>
inline constexpr T kFarFromOne = T(sizeof(T) == 4 ? 0x1p40 : 0x1p400);
template <typename T>
inline xsimd::batch_bool<T> IsFarFromOne(const ComplexBatch<T>& z) {
    const Batch<T> limit(kFarFromOne<T>);
    const Batch<T> x = xsimd::abs(z.real);
    const Batch<T> y = xsimd::abs(z.imag);
    const auto is_far = (x > limit) | (y > limit);
    return is_far & (((x == x) & (y == y)) | IsInfinitePart(x) | IsInfinitePart(y));
}
// log(2 |z|)
template <typename T>
inline Batch<T> LogOfTwice(const ComplexBatch<T>& z) {
    return LogOfMagnitude(z.real, z.imag) + Batch<T>(T(0x1.62e42fefa39efp-1));
}
template <typename T>
inline Batch<T> RightAngle() {
    return Batch<T>(T(0x1.921fb54442d18p+0));
}

template <typename T>
inline ComplexBatch<T> Asin(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B one(T(1));
    const ComplexBatch<T> less = Sqrt(ComplexBatch<T>{one - z.real, Negate(z.imag)});
    const ComplexBatch<T> more = Sqrt(ComplexBatch<T>{one + z.real, z.imag});
    ComplexBatch<T> y{Atan2(z.real, less.real * more.real - less.imag * more.imag),
                      Asinh(less.real * more.imag - less.imag * more.real)};
    y.imag = Copysign(y.imag, z.imag);
    const auto is_far = IsFarFromOne(z);
    if (xsimd::any(is_far)) {
        const ComplexBatch<T> far{Atan2(z.real, xsimd::abs(z.imag)),
                                  Copysign(LogOfTwice(z), z.imag)};
        y = Where(is_far, far, y);
    }
    return {Where(IsZeroPart(z.real), z.real, y.real), y.imag};
}
template <typename T>
inline ComplexBatch<T> Acos(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B one(T(1));
    const ComplexBatch<T> less = Sqrt(ComplexBatch<T>{one - z.real, Negate(z.imag)});
    const ComplexBatch<T> more = Sqrt(ComplexBatch<T>{one + z.real, z.imag});
    ComplexBatch<T> y{B(T(2)) * Atan2(less.real, more.real),
                      Asinh(more.real * less.imag - more.imag * less.real)};
    y.imag = Copysign(y.imag, Negate(z.imag));
    const auto is_far = IsFarFromOne(z);
    if (xsimd::any(is_far)) {
        const ComplexBatch<T> far{Atan2(xsimd::abs(z.imag), z.real),
                                  Copysign(LogOfTwice(z), Negate(z.imag))};
        y = Where(is_far, far, y);
    }
    const auto is_between = IsZeroPart(z.real) & !(z.imag == z.imag);
    return {Where(is_between, RightAngle<T>(), y.real), y.imag};
}
template <typename T>
inline ComplexBatch<T> Asinh(const ComplexBatch<T>& z) {
    return TurnRight(Asin(TurnLeft(z)));
}
template <typename T>
inline ComplexBatch<T> Acosh(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B one(T(1));
    const ComplexBatch<T> less = Sqrt(ComplexBatch<T>{z.real - one, z.imag});
    const ComplexBatch<T> more = Sqrt(ComplexBatch<T>{z.real + one, z.imag});
    ComplexBatch<T> y{Asinh(less.real * more.real + less.imag * more.imag),
                      B(T(2)) * Atan2(less.imag, more.real)};
    const auto is_far = IsFarFromOne(z);
    if (xsimd::any(is_far)) {
        y = Where(is_far, ComplexBatch<T>{LogOfTwice(z), Atan2(z.imag, z.real)}, y);
    }
    const auto is_between = IsZeroPart(z.real) & !(z.imag == z.imag);
    return {y.real, Where(is_between, RightAngle<T>(), y.imag)};
}
template <typename T>
inline ComplexBatch<T> Atanh(const ComplexBatch<T>& z) {
    using B = Batch<T>;
    const B one(T(1));
    const B a = xsimd::abs(z.real);
    const B less = one - a;
    const B square = z.imag * z.imag;
    const B divisor = less * less + square;
    B real = B(T(0.25)) * Log1p(B(T(4)) * a / divisor);
    B imag = B(T(0.5)) * Atan2(z.imag + z.imag, less * (one + a) - square);
    // At 1 the divisor underflows.
    const auto is_close = divisor < B(T(sizeof(T) == 4 ? 0x1p-60 : 0x1p-600));
    if (xsimd::any(is_close)) {
        const B log = LogOfMagnitude(less, z.imag);
        real = Where(is_close, B(T(0.5)) * (B(T(0x1.62e42fefa39efp-1)) - log), real);
    }
    const auto is_far = IsFarFromOne(z);
    if (xsimd::any(is_far)) {
        const B size = Hypot(z.real, z.imag);
        const B near = Where(size == Infinity<T>(), B(T(0)), a / size / size);
        real = Where(is_far, near, real);
        imag = Where(is_far, Where(z.imag == z.imag, RightAngle<T>(), z.imag), imag);
    }
    imag = Where(imag == imag, Copysign(imag, z.imag), imag);
    return {Where(IsZeroPart(z.real), z.real, Copysign(real, z.real)), imag};
}
template <typename T>
inline ComplexBatch<T> Atan(const ComplexBatch<T>& z) {
    return TurnRight(Atanh(TurnLeft(z)));
}

// As in NumPy, small integer powers are products: 1j**1 is 1j.
template <typename T>
inline ComplexBatch<T> PowOfInteger(const ComplexBatch<T>& z, const Batch<T>& exponent) {
    using B = Batch<T>;
    const ComplexBatch<T> one(T(1));
    B n = xsimd::abs(exponent);
    ComplexBatch<T> square = z;
    ComplexBatch<T> y = one;
    auto has_begun = n < B(T(0));
    while (xsimd::any(n > B(T(0)))) {
        const B half = xsimd::floor(n * B(T(0.5)));
        const auto is_odd = n > half + half;
        y = Where(is_odd, Where(has_begun, y * square, square), y);
        has_begun = has_begun | is_odd;
        n = half;
        square = square * square;
    }
    return Where(exponent < B(T(0)), one / y, y);
}
template <typename T>
inline ComplexBatch<T> Pow(const ComplexBatch<T>& z, const ComplexBatch<T>& power) {
    using B = Batch<T>;
    const B zero(T(0));
    const B nan(std::numeric_limits<T>::quiet_NaN());
    const auto is_small = (power.imag == zero) & (xsimd::abs(power.real) < B(T(100))) &
                          (xsimd::trunc(power.real) == power.real);
    const auto is_zero = (z.real == zero) & (z.imag == zero);
    ComplexBatch<T> y = Exp(power * Log(z));
    if (xsimd::any(is_small)) {
        y = Where(is_small, PowOfInteger(z, Where(is_small, power.real, zero)), y);
    }
    if (xsimd::any(is_zero)) {
        const auto is_one = (power.real == zero) & (power.imag == zero);
        const B real = Where(power.real > zero, zero, nan);
        y = Where(is_zero & !is_one, ComplexBatch<T>{real, real}, y);
    }
    return y;
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
