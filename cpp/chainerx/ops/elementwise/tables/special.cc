#include "chainerx/ops/elementwise/tables/special.h"

#include <cmath>

#include "chainerx/kernels/elementwise/special.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special_gradients.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// From here on Stirling's formula holds with the remainder below.
constexpr double kStirling = 10;

// The remainder lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2 (DLMF 5.11.1).
Array StirlingRest(const Array& x) {
    constexpr double kSeries[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360.0, 1.0 / 156};
    const Array v = 1.0 / x;
    const Array square = v * v;
    Array sum = square * kSeries[6];
    for (int k = 5; k > 0; --k) sum = (sum + kSeries[k]) * square;
    return (sum + kSeries[0]) * v;
}

// lgamma(b) - lgamma(a + b), where b and a + b are large: the large terms of Stirling's formula
// have been cancelled (algdiv of Didonato and Morris, Algorithm 708, 1992).
Array Shift(const Array& a, const Array& b) {
    const Array sum = a + b;
    return StirlingRest(b) - StirlingRest(sum) - (sum - 0.5) * Log1p(a / b) - a * (Log(b) - 1.0);
}

// betaln(a, b) for large a <= b, in terms of one sign (bcorr of the same).
Array BothLarge(const Array& a, const Array& b) {
    constexpr double kHalfLog2Pi = 0.91893853320467274178;
    const Array rests = StirlingRest(a) + StirlingRest(b) - StirlingRest(a + b);
    const Array ratio = a / b;
    return rests + kHalfLog2Pi - Log(b) * 0.5 + (a - 0.5) * Log(ratio / (ratio + 1.0)) -
           b * Log1p(ratio);
}

// Riemann's zeta function for x in [-1/2, 1): the sum of k**-x, with the Euler-Maclaurin correction
// after the first terms (DLMF 25.2.9).
Array ZetaBelowOne(const Array& x) {
    constexpr int kTerms = 10;
    // The Bernoulli numbers B_2k over (2k)!.
    constexpr double kFactors[] = {1.0 / 12,          -1.0 / 720,
                                   1.0 / 30240,       -1.0 / 1209600,
                                   1.0 / 47900160,    -691.0 / 1307674368000,
                                   1.0 / 74724249600, -3617.0 / 10670622842880000};
    Array sum = Full(x.shape(), 1, x.dtype(), x.device());
    for (int k = 2; k < kTerms; ++k) sum = sum + Exp(x * -std::log(k));
    const Array last = Exp(x * -std::log(kTerms));
    sum = sum + last * (kTerms / (x - 1) + 0.5);
    Array term = last * x / kTerms;
    int k = 1;
    for (const double factor : kFactors) {
        sum = sum + term * factor;
        term = term * (x + k) * (x + (k + 1)) / (kTerms * kTerms);
        k += 2;
    }
    return sum;
}

// The same for x <= -1/2, by the functional equation (DLMF 25.4.1): nearer to 0, 1 - x would round
// to the pole.
Array ZetaReflected(const Array& x) {
    constexpr double kPi = 3.14159265358979323846;
    const Array t = 1 - x;
    const Array y = 2 * Exp(Lgamma(t) - t * std::log(2 * kPi)) * Zeta(t, Scalar{1});
    return Where(Fmod(x, 2) == 0, 0, y * Sin(Fmod(x, 4) * (kPi / 2)));
}

}  // namespace

Array Zeta(const Array& x) {
    const Array y = Zeta(x, Scalar{1});
    const Array wide = AsType(internal::Detached(x), Dtype::kFloat64, false);
    const Array is_below_one = wide < 1;
    const Array near = ZetaBelowOne(Where(is_below_one, Maximum(wide, -0.5), 0));
    const Array low = Where(wide >= -0.5, near, ZetaReflected(Minimum(wide, -0.5)));
    return Where(is_below_one, AsType(low, y.dtype(), false), y);
}

Array KlDiv(const Array& x1, const Array& x2) {
    const Array y = RelEntr(x1, x2);
    const Array difference = AsType(x2, y.dtype(), false) - AsType(x1, y.dtype(), false);
    // Omits the difference where the relative entropy is infinite, since -inf would turn it into
    // NaN.
    return y + Where(internal::Detached(difference) == -HUGE_VAL, 0, difference);
}

Array Betaln(const Array& a, const Array& b) {
    const Dtype dtype = FloatResult(PromoteTypes(a.dtype(), b.dtype()));
    const Dtype wide = internal::WideDtype(dtype);
    const Array x1 = AsType(a, wide, false);
    const Array x2 = AsType(b, wide, false);
    // Minimum() would give both operands a derivative where they are equal.
    const Array in_order = x1 <= x2;
    const Array low = Where(in_order, x1, x2);
    const Array high = Where(in_order, x2, x1);
    const Array sum = low + high;
    const Array is_large =
        LogicalAnd(LogicalAnd(high >= kStirling, sum >= kStirling), sum < INFINITY);
    const Array are_both = LogicalAnd(is_large, low >= kStirling);
    // Each of the three formulas gets operands with finite derivatives where another one applies.
    const Array rest = Where(
        are_both, BothLarge(Where(are_both, low, kStirling), Where(are_both, high, kStirling)),
        Lgamma(low) + Shift(Where(is_large, low, 1), Where(is_large, high, kStirling)));
    const Array y = Where(is_large, rest, Lgamma(low) + Lgamma(high) - Lgamma(sum));
    // At 0, 0 one of the three poles remains.
    return AsType(Where(LogicalAnd(x1 == 0, x2 == 0), HUGE_VAL, y), dtype, false);
}

Array Multigammaln(const Array& a, int64_t d) {
    constexpr int64_t kMax = 10'000;  // each is an iteration
    if (d < 1 || d > kMax) {
        throw ValueError{"multigammaln: d is ", d, ", expected 1 to ", kMax};
    }
    constexpr double kLogPi = 1.14472988584940017414;
    const Array x = AsType(a, FloatResult(a.dtype()), false);
    Array y = Lgamma(x);
    for (int64_t i = 1; i < d; ++i) y = y + Lgamma(x - static_cast<double>(i) / 2);
    return y + kLogPi * static_cast<double>(d * (d - 1)) / 4;
}

}  // namespace chainerx

#define CX_FAMILY_DEF "chainerx/ops/elementwise/tables/special.def"
#include "chainerx/ops/elementwise/define_family.h"
