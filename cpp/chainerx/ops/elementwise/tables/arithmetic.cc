#include "chainerx/kernels/elementwise/arithmetic.h"

#include "chainerx/core/array.h"
#include "chainerx/core/scalar.h"
#include "chainerx/kernels/elementwise/complex.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/power.h"
#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

struct GradAbsolute;
Array Shortcut(const GradAbsolute&, const Array& x);
struct GradSign;
Array Shortcut(const GradSign&, const Array& x);
struct Grad1Power;
Array Shortcut(const Grad1Power&, const Array& x, const Scalar& exponent);

}  // namespace
}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/arithmetic.def"
#include "chainerx/ops/elementwise/define_family.h"

namespace chainerx {
namespace {

constexpr OpInfo kComplexAbsolute{"absolute", &kernels::ComplexAbsolute::kInfo,
                                  Batching::kElementwise};
constexpr OpInfo kComplexSign{"sign", &kernels::Sign::kInfo, Batching::kElementwise};

Array AbsoluteValues(const Array& x) {
    if (!HasKernel<kernels::ComplexAbsolute>(x.device())) return Hypot(Real(x), Imag(x));
    Array y = EmptyUnchecked(x.shape(), RealDtype(x.dtype()), x.device());
    CallOn<kernels::ComplexAbsolute>(x.device(), x, y);
    return y;
}

// The modulus of complex numbers; its derivative at 0 is defined as 0.
Array Shortcut(const GradAbsolute&, const Array& x) {
    if (!IsComplex(x.dtype())) [[likely]]
        return Array{};
    Array y = AbsoluteValues(internal::Detached(x));
    if (Record rec{kComplexAbsolute, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array size = y();
            return Conj(x()) * (gy / Where(size == 0, 1, size));
        });
    }
    return y;
}

// The sign of a complex number: its direction on the unit circle.
Array Shortcut(const GradSign&, const Array& x) {
    if (!IsComplex(x.dtype())) [[likely]]
        return Array{};
    const Array number = internal::Detached(x);
    const Array size = Absolute(number);
    // Divides part by part: division of complex numbers computes the inverse of the size, which may
    // overflow.
    const Array is_zero = size == 0;
    const Array divisor = Where(is_zero, 1, size);
    Array y = MakeComplex(Real(number) / divisor, Imag(number) / divisor);
    y = Where(is_zero, 0, y);  // clears the signs of zeros
    // As in NumPy, one infinite part gives the direction, and two give NaN.
    const Array re_is_inf = Isinf(Real(number));
    const Array im_is_inf = Isinf(Imag(number));
    const Array direction = MakeComplex(Where(re_is_inf, Sign(Real(number)), 0),
                                        Where(im_is_inf, Sign(Imag(number)), 0));
    y = Where(NotEqual(re_is_inf, im_is_inf), direction, y);
    if (Record rec{kComplexSign, {x}, y}) {
        // The derivative is the tangential part over the modulus; at 0 it is defined as 0.
        rec.Grad(0, [x = rec.Save(x), y = rec.SaveOutput(y)](const Array& gy) {
            const Array along = Real(gy * y());
            const Array distance = Absolute(x());
            const Array is_zero = distance == 0;
            return (gy - Conj(y()) * along) * Where(is_zero, 0, 1 / Where(is_zero, 1, distance));
        });
    }
    return y;
}

// Exponents that NumPy's operator treats specially, with the same bits: the square root of -0 is
// -0, of -inf NaN.
Array Shortcut(const Grad1Power&, const Array& x, const Scalar& exponent) {
    if (exponent.kind() == DtypeKind::kBool || exponent.kind() == DtypeKind::kComplex ||
        IsBool(x.dtype())) {
        return Array{};
    }
    const auto value = exponent.To<double>();
    const bool is_known = value == 2 || value == 1 || value == 0.5 || value == -1;
    if (!is_known) return Array{};
    if (IsInt(x.dtype())) {
        if (exponent.kind() == DtypeKind::kFloat) {
            return Shortcut(Grad1Power{}, AsType(x, kDefaultFloat), exponent);
        }
        if (value < 0) return Array{};
    }
    if (value == 2) return Square(x);
    if (value == 1) return Positive(x);
    return value < 0 ? Reciprocal(x) : Sqrt(x);
}

}  // namespace
}  // namespace chainerx
