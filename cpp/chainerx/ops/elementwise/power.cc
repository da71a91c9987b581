#include "chainerx/ops/elementwise/power.h"

#include <cmath>

#include "chainerx/ops/elementwise/bit_operators.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kScaledPower{"scaled_power", nullptr, Batching::kElementwise};

// c * x^e, and 0 where c == 0. It is one operation with its own derivatives: the derivative of
// where() in c would be 0 at c == 0, where the true one is not, and that of the product is 0 * inf
// at x == 0.
Array ScaledPower(const Array& c, const Array& x, const Array& e) {
    Array y = Where(internal::Detached(c) == 0, 0,
                    internal::Detached(c) * Power(internal::Detached(x), internal::Detached(e)));
    if (Record rec{kScaledPower, {c, x, e}, y}) {
        rec.Grad(0, [x = rec.Save(x), c = rec.Save(c), e = rec.Save(e)](const Array& gy) {
            // Takes 0 for the derivative at 0^-1, as in the other order.
            const Array pole = (c() == 0) & (x() == 0);
            return gy * Where(pole, 0, Power(Where(pole, 1, x()), e()));
        });
        rec.Grad(1, [x = rec.Save(x), c = rec.Save(c), e = rec.Save(e)](const Array& gy) {
            return gy * ScaledPower(c() * e(), x(), e() - 1);
        });
        rec.Grad(2, [x = rec.Save(x), c = rec.Save(c), e = rec.Save(e)](const Array& gy) {
            const Array base = x();
            return gy * ScaledPower(c(), base, e()) * Log(Where(base == 0, 1, base));
        });
    }
    return y;
}

}  // namespace

Array PowerByBase(const Array& x1, const Array& x2) { return ScaledPower(x2, x1, x2 - 1); }

Array PowerByBase(const Array& x1, const Scalar& x2) {
    if (x2.kind() == DtypeKind::kComplex) {
        const Complex128 exponent = x2.To<Complex128>();
        return Power(x1, Scalar{exponent - 1.0}) * Scalar{exponent};
    }
    const double exponent = x2.To<double>();
    if (exponent == 0) return FullLike(x1, 0, x1.device());
    return Power(x1, exponent - 1) * exponent;
}

// At x1 == 0 the plain formula gives 0 * inf, and so does its derivative; there y <= 1 shows that
// x2 >= 0, so that a constant exponent need not be saved.
Array PowerByExponent(const Array& x1, const Array& y) {
    Array zero = x1 == 0;
    if (!IsComplex(y.dtype())) zero = zero & (y <= 1);
    return y * Log(AsType(Where(zero, 1, x1), y.dtype(), false));
}
Array PowerByExponent(const Scalar& x1, const Array& y) {
    if (x1.kind() == DtypeKind::kComplex) return y * Scalar{std::log(x1.To<Complex128>())};
    const Scalar log = std::log(x1.To<double>());
    if (x1.To<double>() != 0) return y * log;
    if (IsComplex(y.dtype())) return y * 0;
    return y * AsType(Where(y <= 1, Scalar{0}, log), y.dtype(), false);
}

}  // namespace chainerx
