// These routines compute with the bits of floats as integers; narrow floats are widened first.
#include "chainerx/ops/elementwise/float_parts.h"

#include <limits>

#include "chainerx/ops/elementwise/real_operands.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/numeric.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kFrexp{"frexp", nullptr, Batching::kElementwise};
constexpr OpInfo kLdexp{"ldexp", nullptr, Batching::kElementwise};
constexpr OpInfo kModf{"modf", nullptr, Batching::kElementwise};

using internal::Detached;

// float64: number of fraction bits, exponent mask and bias, exponents of normal numbers.
constexpr int kFractionBits = 52;
constexpr int64_t kExponentMask = 2047;
constexpr int64_t kBias = 1023;
constexpr int64_t kMinExponent = -1022;
constexpr int64_t kMaxExponent = 1023;

Dtype IntegerOfSize(int64_t item_size) {
    return item_size == 2 ? Dtype::kInt16 : item_size == 4 ? Dtype::kInt32 : Dtype::kInt64;
}

double LeastNumber(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return 0x1p-24;
        case Dtype::kBFloat16:
            return 0x1p-133;
        case Dtype::kFloat32:
            return 0x1p-149;
        default:
            return 0x1p-1074;
    }
}

// Returns 2^e, for exponents of normal numbers.
Array PowerOfTwo(const Array& e) {
    return ViewAs(LeftShift(AsType(e, Dtype::kInt64, false) + kBias, kFractionBits),
                  Dtype::kFloat64);
}

// Returns x * 2^e for float64 x and int64 e, in steps of which only the last rounds.
Array TimesPowerOfTwo(Array x, Array e) {
    // A downward step stays a fraction's width above the limit, since subnormal numbers have fewer
    // digits.
    constexpr int64_t kDown = kMinExponent + kFractionBits + 1;
    for (int i = 0; i < 2; ++i) {
        const Array step = Where(e > kMaxExponent, kMaxExponent, Where(e < kMinExponent, kDown, 0));
        x = x * PowerOfTwo(step);
        e = e - step;
    }
    return x * PowerOfTwo(Clamp(e, kMinExponent, kMaxExponent));
}

}  // namespace

std::pair<Array, Array> Frexp(const Array& x) {
    const Dtype dtype = internal::RealFloatOf("frexp", "x", x);
    const Array value = AsType(Detached(x), Dtype::kFloat64, false);
    const Array is_small = Absolute(value) < 0x1p-1022;
    constexpr int kUp = 54;
    const Array bits = ViewAs(Where(is_small, value * 0x1p54, value), Dtype::kInt64);
    const Array is_special = LogicalOr(value == 0, LogicalNot(Isfinite(value)));
    const Array power = BitwiseAnd(RightShift(bits, kFractionBits), kExponentMask) -
                        Where(is_small, kBias - 1 + kUp, kBias - 1);
    Array exponent = AsType(Where(is_special, 0, power), Dtype::kInt32);
    const Array halves = BitwiseOr(BitwiseAnd(bits, ~(kExponentMask << kFractionBits)),
                                   (kBias - 1) << kFractionBits);
    Array fraction = AsType(Where(is_special, value, ViewAs(halves, Dtype::kFloat64)), dtype);
    if (Record rec{kFrexp, {x}, fraction}) {
        rec.Grad(0, [exponent = rec.Save(exponent)](const Array& gy) {
            return Ldexp(gy, Negative(exponent()));
        });
    }
    return {std::move(fraction), std::move(exponent)};
}

Array Ldexp(const Array& x1, const Array& x2) {
    const Dtype dtype = internal::RealFloatOf("ldexp", "x1", x1);
    CheckDtype(IsInt(x2.dtype()), "ldexp", "x2", x2.dtype(), "an integer");
    CheckSameDevice("ldexp", x1.device(), x2.device());
    // Larger exponents give the same result; the limit also keeps uint64 within int64.
    constexpr int64_t kEnough = 4000;
    const Array e = GetItemSize(x2.dtype()) == 8 ? Minimum(x2, kEnough) : x2;
    Array y = AsType(TimesPowerOfTwo(AsType(Detached(x1), Dtype::kFloat64, false),
                                     AsType(e, Dtype::kInt64, false)),
                     dtype, false);
    if (Record rec{kLdexp, {x1}, y}) {
        rec.Grad(0, [x2 = rec.Save(x2)](const Array& gy) { return Ldexp(gy, x2()); });
    }
    return y;
}

Array Ldexp(const Array& x1, const Scalar& x2) {
    if (x2.kind() >= DtypeKind::kFloat) {
        throw DtypeError{"ldexp: x2 is a number of dtype ", x2.dtype(), ", expected an integer"};
    }
    return Ldexp(x1, Full(Shape{}, x2, Dtype::kInt64, x1.device()));
}

Array Ldexp(const Scalar& x1, const Array& x2) {
    return Ldexp(Full(Shape{}, x1, FloatResult(x1.dtype()), x2.device()), x2);
}

std::pair<Array, Array> Modf(const Array& x) {
    const Array value = AsType(Detached(x), internal::RealFloatOf("modf", "x", x), false);
    Array whole = Trunc(value);
    Array rest = Copysign(Where(Isinf(value), 0, value - whole), value);
    if (Record rec{kModf, {x}, rest}) {
        rec.Grad(0, [](const Array& gy) { return gy; });
    }
    return {std::move(rest), std::move(whole)};
}

Array Nextafter(const Array& x1, const Array& x2) {
    const auto [from, to] = internal::RealFloatPair("nextafter", x1, x2);
    const Dtype dtype = from.dtype();
    if (GetItemSize(dtype) > 2) return NextFloat(from, to);
    const Dtype integer = IntegerOfSize(GetItemSize(dtype));
    // Ordered as integers, the bits grow with the absolute value.
    const Array is_away = Equal(from < to, from > 0);
    const Array moved =
        ViewAs(ViewAs(from, integer) + AsType(Where(is_away, 1, -1), integer), dtype);
    const double least = LeastNumber(dtype);
    const Array from_zero = Copysign(least, to);
    const Array y = Where(from == 0, from_zero, moved);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return Where(LogicalOr(Isnan(from), Isnan(to)), nan, Where(from == to, to, y));
}

Array Spacing(const Array& x) {
    const Dtype dtype = internal::RealFloatOf("spacing", "x", x);
    const Array value = AsType(Detached(x), dtype, false) + 0.0;  // + 0.0 turns -0 into 0
    // The bits grow with the absolute value; after infinity comes NaN.
    const Array bits = ViewAs(value, IntegerOfSize(GetItemSize(dtype)));
    return ViewAs(bits + 1, dtype) - value;
}

}  // namespace chainerx
