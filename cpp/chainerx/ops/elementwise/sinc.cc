// sin(pi x) / (pi x) and its derivatives; dividing by x is accurate only far from 0.
#include <cmath>

#include "chainerx/ops/elementwise/composed_math.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kSinc{"sinc", nullptr, Batching::kElementwise};
constexpr OpInfo kSincSlope{"sinc_slope", nullptr, Batching::kElementwise};

constexpr double kPi = 3.14159265358979323846;

// The n-th derivative of sin(t) / t from its series, the sum over even k of
//     (-1)^(k/2) t^(k-n) / ((k-n)! (k+1)).
Array Series(const Array& t, int n) {
    constexpr int kTerms = 14;
    const int least = n % 2;  // exponent of t in the first term
    const Array square = t * t;
    Array y;
    for (int i = kTerms - 1; i >= 0; --i) {
        const int power = least + 2 * i;
        const int k = power + n;
        const double c = (k % 4 == 0 ? 1 : -1) / (std::tgamma(power + 1.0) * (k + 1));
        y = y.is_null() ? FullLike(t, c) : y * square + c;
    }
    return least == 1 ? y * t : y;
}

// The same from t f = sin(t): t f^(n) + n f^(n-1) is the n-th derivative of sin.
Array Quotient(const Array& t, int n) {
    const Array sine = n % 2 == 0 ? Sin(t) : Cos(t);
    const Array numerator = n % 4 < 2 ? sine : -sine;
    return n == 0 ? numerator / t : (numerator - Quotient(t, n - 1) * n) / t;
}

// d^n sinc / dx^n
Array Derivative(const Array& x, int n) {
    const Array wide = AsType(internal::Detached(x), internal::WideDtype(x.dtype()), false);
    const Array t = wide * kPi;
    Array y = n == 0 ? Where(t == 0, 1, Quotient(t, 0))
                     : Where(Absolute(t) < 2.0 + n, Series(t, n), Quotient(t, n));
    if (n > 0) y = y * std::pow(kPi, n);
    y = AsType(y, x.dtype(), false);
    if (Record rec{n == 0 ? kSinc : kSincSlope, {x}, y}) {
        rec.Grad(0, [n, x = rec.Save(x)](const Array& gy) { return gy * Derivative(x(), n + 1); });
    }
    return y;
}

}  // namespace

Array Sinc(const Array& x) { return Derivative(AsType(x, FloatResult(x.dtype()), false), 0); }

}  // namespace chainerx
