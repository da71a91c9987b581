// Truncated normal numbers, by the quantile function.
#include <limits>

#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/special.h"
#include "chainerx/ops/random/random_plan.h"
#include "chainerx/ops/routine.h"

namespace chainerx::random {
namespace {

constexpr OpInfo kTruncated{"truncated_normal", nullptr};
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kTail = -5;          // below this, logarithms of probabilities are used
constexpr double kFarthest = -1e100;  // bounds are clipped to this, so that squares stay finite

// Returns x with P(x) = v P(b), for an upper bound `b` below kTail: Newton's steps for log P(x) =
// log P(b) + log v, which start from the solution for the density exp(-x^2 / 2) |x|.
Array InTail(const Array& b, const Array& log_v) {
    const auto rest = [](const Array& x) { return Log(Erfcx(x * -kSqrtHalf)); };
    const Array at_b = rest(b);
    Array x = Negative(Sqrt(b * b - log_v * 2));
    for (int i = 0; i < 3; ++i) {
        const Array excess = (b - x) * (b + x) * 0.5 + rest(x) - at_b - log_v;
        x = x - excess * Erfcx(x * -kSqrtHalf) / kSqrtTwoOverPi;
    }
    return Minimum(x, b);
}

// Standard normal quantiles between a <= b with a + b <= 0, so that no probability is close to 1; u
// in (0, 1) is the probability below x, relative to that between the bounds.
Array QuantileBelow(const Array& a, const Array& b, const Array& u) {
    const Array is_tail = b < kTail;
    const Array p = Ndtr(a);
    const Array middle = Ndtri(p + (Ndtr(b) - p) * u);
    // The logarithms of P(a) / P(b), and of u + (1 - u) times that ratio.
    const Array far_b = Maximum(Where(is_tail, b, kTail), kFarthest);
    const Array far_a = Minimum(a, far_b);
    const Array log_ratio = LogNdtr(far_a) - LogNdtr(far_b);
    const Array log_v = Log1p((1 - u) * Expm1(log_ratio));
    return Where(is_tail, InTail(far_b, log_v), middle);
}

// Returns dx/da for x, the quantile of u.
Array Slope(const Array& at, const Array& x, const Array& u) {
    // The result does not depend on an infinite bound.
    const Array is_finite = Isfinite(at);
    const Array bound = Where(is_finite, at, x);
    return Where(is_finite, Exp((x - bound) * (x + bound) * 0.5) * u, 0);
}

Array Standard(const Array& a, const Array& b, const Array& u) {
    const Array low = internal::Detached(a);
    const Array high = internal::Detached(b);
    // Mirrors intervals that are mostly above 0. (Infinite bounds on both sides are not mirrored.)
    const Array turned = low > Negative(high);
    const Array x =
        QuantileBelow(Where(turned, Negative(high), low), Where(turned, Negative(low), high), u);
    Array y = Maximum(Minimum(Where(turned, Negative(x), x), high), low);
    if (Record rec{kTruncated, {a, b}, y}) {
        // P(x) = (1 - w) P(a) + w P(b) for a fixed w.
        const Array w = Where(turned, 1 - u, u);
        rec.Grad(0, [w, a = rec.Save(a), y = rec.SaveOutput(y)](const Array& gy) {
            return gy * Slope(a(), y(), 1 - w);
        });
        rec.Grad(1, [w, b = rec.Save(b), y = rec.SaveOutput(y)](const Array& gy) {
            return gy * Slope(b(), y(), w);
        });
    }
    return y;
}

}  // namespace

Array TruncatedNormal(const Parameter& low, const Parameter& high, const Parameter& loc,
                      const Parameter& scale, const Options& options) {
    const char* op = kTruncated.name;
    const Plan plan{op,
                    {{"low", low, kNotNan},
                     {"high", high, kNotNan},
                     {"loc", loc, kAnyFinite},
                     {"scale", scale, kAboveZero}},
                    options};
    const Array mean = plan.Get(2);
    const Array deviation = plan.Get(3);
    const Array from = plan.Get(0);
    const Array to = plan.Get(1);
    CheckDomain(op, "high - low", to - from,
                {0, std::numeric_limits<double>::infinity(), false, true, "a number > 0"});
    // An infinite bound stays infinite, without a gradient, which would be 0 times infinity.
    const auto standard = [&](const Array& bound) {
        const Array is_finite = Isfinite(bound);
        return Where(is_finite, (Where(is_finite, bound, 0) - mean) / deviation, bound);
    };
    const Array z = Standard(standard(from), standard(to), plan.OpenUniform());
    // Rounding may leave the interval.
    const Array x = mean + deviation * z;
    const Array y = plan.Finish(x);
    const Array first = internal::Detached(plan.Finish(from));
    const Array last = internal::Detached(plan.Finish(to));
    return Maximum(Minimum(y, last), first);
}

}  // namespace chainerx::random
