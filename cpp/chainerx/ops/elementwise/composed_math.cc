#include "chainerx/ops/elementwise/composed_math.h"

#include <cfloat>
#include <cmath>

#include "chainerx/kernels/kernel.h"
#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/power.h"
#include "chainerx/ops/elementwise/real_operands.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/numeric.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::Detached;

constexpr double kPi = 3.14159265358979323846;

// Applies `f` to both parts of complex numbers.
Array OfParts(const Array& x, const auto& f) { return MakeComplex(f(Real(x)), f(Imag(x))); }

// Rounds integers to multiples of 10^-decimals, exactly.
Array RoundedToUnits(const Array& x, int64_t decimals) {
    constexpr int64_t kMaxDigits = 18;  // of int64; half of 10^19 exceeds every int64
    if (decimals < -kMaxDigits && x.dtype() != Dtype::kUInt64) return ZerosLike(x);
    if (decimals < -kMaxDigits - 1) return ZerosLike(x);
    uint64_t unit = 1;
    for (int64_t i = decimals; i < 0; ++i) unit *= 10;
    const Dtype wide = x.dtype() == Dtype::kUInt64 ? Dtype::kUInt64 : Dtype::kInt64;
    const Array number = AsType(x, wide, false);
    const Array rest = Remainder(number, unit);
    const Array is_odd = BitwiseAnd(FloorDivide(number, unit), 1) == 1;
    const Array up = LogicalOr(rest > unit / 2, LogicalAnd(rest == unit / 2, is_odd));
    return AsType(number - rest + AsType(up, wide) * unit, x.dtype(), false);
}

struct Range {
    double low;
    double high;
};
Range RangeOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return {-65504.0, 65504.0};
        case Dtype::kBFloat16:
            return {-0x1.fep127, 0x1.fep127};
        case Dtype::kFloat32:
            return {-FLT_MAX, FLT_MAX};
        default:
            return {-DBL_MAX, DBL_MAX};
    }
}

}  // namespace

Array Round(const Array& x, int64_t decimals) {
    if (IsComplex(x.dtype())) {
        return OfParts(Detached(x), [=](const Array& part) { return Round(part, decimals); });
    }
    if (IsInt(x.dtype())) return decimals >= 0 ? Copy(x) : RoundedToUnits(x, decimals);
    if (decimals == 0) return Rint(x);
    const Array number = AsType(Detached(x), FloatResult(x.dtype()), false);
    const Range range = RangeOf(number.dtype());
    const double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
    if (decimals > 0) {
        // If the dtype can't represent the scale, few of its elements have so many decimals.
        if (scale > range.high && number.dtype() != Dtype::kFloat64) {
            return AsType(Round(AsType(number, Dtype::kFloat64), decimals), number.dtype());
        }
        return scale > range.high ? Copy(number) : RoundTo(number, scale);
    }
    return scale > range.high ? number * 0.0 : RoundToUnits(number, scale);
}

Array NanToNum(const Array& x, const Scalar& nan, const std::optional<Scalar>& posinf,
               const std::optional<Scalar>& neginf) {
    if (IsComplex(x.dtype())) {
        return OfParts(x, [&](const Array& part) { return NanToNum(part, nan, posinf, neginf); });
    }
    if (!IsFloat(x.dtype())) return Copy(x);
    const Range range = RangeOf(x.dtype());
    if (!posinf && !neginf) return Where(Isnan(x), nan, Clamp(x, range.low, range.high));
    const Array below = Where(x == INFINITY, posinf.value_or(range.high), x);
    return Where(Isnan(x), nan, Where(x == -INFINITY, neginf.value_or(range.low), below));
}

std::pair<Array, Array> Divmod(const Array& x1, const Array& x2) {
    return {FloorDivide(x1, x2), Remainder(x1, x2)};
}
std::pair<Array, Array> Divmod(const Array& x1, const Scalar& x2) {
    return {FloorDivide(x1, x2), Remainder(x1, x2)};
}
std::pair<Array, Array> Divmod(const Scalar& x1, const Array& x2) {
    return {FloorDivide(x1, x2), Remainder(x1, x2)};
}

namespace {

Array Widest(const Array& x) {
    return AsType(x, IsComplex(x.dtype()) ? Dtype::kComplex128 : Dtype::kFloat64, false);
}

}  // namespace

Array FloatPower(const Array& x1, const Array& x2) { return Power(Widest(x1), Widest(x2)); }
Array FloatPower(const Array& x1, const Scalar& x2) { return Power(Widest(x1), x2); }
Array FloatPower(const Scalar& x1, const Array& x2) { return Power(x1, Widest(x2)); }

Array BitwiseCount(const Array& x) {
    if (IsBool(x.dtype())) return AsType(x, Dtype::kUInt8);
    if (!IsInt(x.dtype())) {
        throw DtypeError{"bitwise_count: x must be of bool or integers, got ", x.dtype()};
    }
    Array y = EmptyUnchecked(x.shape(), Dtype::kUInt8, x.device());
    CallOn<kernels::CountBits>(x.device(), x, y);
    return y;
}

Array Degrees(const Array& x) {
    return AsType(x, internal::RealFloatOf("degrees", "x", x), false) * (180 / kPi);
}
Array Radians(const Array& x) {
    return AsType(x, internal::RealFloatOf("radians", "x", x), false) * (kPi / 180);
}

Array Angle(const Array& z, bool degrees) {
    Array y;
    if (IsComplex(z.dtype())) {
        y = Arctan2(Imag(z), Real(z));
    } else {
        const Array x = AsType(Detached(z), FloatResult(z.dtype()), false);
        y = Where(Isnan(x), x, AsType(Signbit(x), x.dtype()) * kPi);
    }
    return degrees ? Degrees(y) : y;
}

Array RealIfClose(const Array& x, double tolerance) {
    if (!IsComplex(x.dtype())) return x;
    const double precision = x.dtype() == Dtype::kComplex64 ? FLT_EPSILON : DBL_EPSILON;
    const double bound = tolerance > 1 ? tolerance * precision : tolerance;
    return All(Absolute(Imag(Detached(x))) < bound).Item<bool>() ? Real(x) : x;
}

Array Isposinf(const Array& x) {
    internal::CheckReal("isposinf", "x", x);
    return IsFloat(x.dtype()) ? x == INFINITY : Zeros(x.shape(), Dtype::kBool, x.device());
}
Array Isneginf(const Array& x) {
    internal::CheckReal("isneginf", "x", x);
    return IsFloat(x.dtype()) ? x == -INFINITY : Zeros(x.shape(), Dtype::kBool, x.device());
}
Array Isreal(const Array& x) {
    return IsComplex(x.dtype()) ? Imag(x) == 0 : Ones(x.shape(), Dtype::kBool, x.device());
}
Array Iscomplex(const Array& x) {
    return IsComplex(x.dtype()) ? Imag(x) != 0 : Zeros(x.shape(), Dtype::kBool, x.device());
}

}  // namespace chainerx
