// The methods are those of incomplete_gamma.cc.
#include "chainerx/native/math/incomplete_gamma_beta.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "chainerx/native/math/incomplete_parts.h"

namespace chainerx::native {
namespace {

using namespace incomplete;

// (a + b) x - a = b - (a + b) y, computed by the side without rounding.
CX_PART double OffMean(double a, double b, double x, double y) {
    return x <= y ? std::fma(a + b, x, -a) : -std::fma(a + b, y, -b);
}

// x^a y^b / Beta(a, b) for large a and b, b the smaller one, as sqrt(scale) exp(exponent).
struct Hump {
    double scale;
    double exponent;
};

CX_PART Hump HumpOf(double a, double b, double x, double y) {
    const double sum = a + b;
    const double off = OffMean(a, b, x, y);
    const double depth =
        a * HumpDepth(off / a, x * (sum / a)) + b * HumpDepth(-off / b, y * (sum / b));
    const double rest = StirlingRest(sum) - StirlingRest(a) - StirlingRest(b);
    return {b / kTwoPi * (a / sum), rest - depth};
}

// x^a y^b / Beta(a, b), the factor, for y = 1 - x, neither 0.
CX_PART double BetaFactor(double a, double b, double x, double y) {
    if (a < b) {
        std::swap(a, b);
        std::swap(x, y);
    }
    const double sum = a + b;
    if (b >= kLargeExponent) {
        const auto [scale, exponent] = HumpOf(a, b, x, y);
        return std::sqrt(scale) * Exp(exponent);
    }
    if (a >= kLargeExponent) {
        const double log_x = x > 0.5 ? Log1p(-y) : Log(x);
        const double log =
            a * log_x + (sum - 0.5) * Log1p(b / a) - b + StirlingRest(sum) - StirlingRest(a);
        const double power = a < 1e290 ? Pow(y * a, b) : Pow(y, b) * Pow(a, b);
        return b * Exp(log) * power / Gamma(b + 1);
    }
    const double power = Pow(x, a) * Pow(y, b);
    return power * (b * (a / sum)) * (Gamma(sum + 1) / (Gamma(a + 1) * Gamma(b + 1)));
}

// The logarithm of the factor.
CX_PART double LogBetaFactor(double a, double b, double x, double y) {
    if (a < b) {
        std::swap(a, b);
        std::swap(x, y);
    }
    const double sum = a + b;
    if (b >= kLargeExponent) {
        const auto [scale, exponent] = HumpOf(a, b, x, y);
        return 0.5 * Log(scale) + exponent;
    }
    const double log_x = x > 0.5 ? Log1p(-y) : Log(x);
    const double log_y = y > 0.5 ? Log1p(-x) : Log(y);
    if (a >= kLargeExponent) {
        const double rest = StirlingRest(sum) - StirlingRest(a);
        return a * log_x + (sum - 0.5) * Log1p(b / a) - b + rest + b * (log_y + Log(a)) -
               LogGamma(b);
    }
    return a * log_x + b * log_y + LogGamma(sum) - LogGamma(a) - LogGamma(b);
}

// The continued fraction DLMF 8.17.22: the lower tail over the factor.
CX_PART double BetaFraction(double a, double b, double x) {
    const double sum = a + b;
    double c = 1;
    double d = 1 - sum * x / (a + 1);
    if (std::abs(d) < kTiny) d = kTiny;
    d = 1 / d;
    double f = d;
    CX_ROLLED
    for (int m = 1; m < kMaxTerms; ++m) {
        const double end = a + 2 * m;
        double step = 1;
        CX_ROLLED
        for (const double term :
             {m * (b - m) * x / ((end - 1) * end), -(a + m) * (sum + m) * x / (end * (end + 1))}) {
            d = 1 + term * d;
            if (std::abs(d) < kTiny) d = kTiny;
            c = 1 + term / c;
            if (std::abs(c) < kTiny) c = kTiny;
            d = 1 / d;
            step = d * c;
            f *= step;
        }
        if (std::abs(step - 1) < kEpsilon) break;
    }
    return f / a;
}

// The lower tail over the factor, for x below the mean and a >= kLargeExponent; and its derivative
// by a or b.
enum class LogOf { kPoint, kRest, kNeither };
CX_PART Rate BetaTail(double a, double b, double x, double y, double mean_log,
                      LogOf log_of = LogOf::kPoint) {
    const double slope = std::max(0.0, -OffMean(a, b, x, y));
    // Integrates down to odds that are exp(-t) of those of x, by the smaller of x and y.
    const bool is_y = y < x;
    const double small = is_y ? y : x;
    const double sign = is_y ? 1 : -1;
    const Integrals tail = TailIntegrals(
        slope, (a + b) * x * y / 3,
        [=](double t) {
            const double z = small * Expm1(sign * t);
            return slope * t + (a + b) * (Log1pLessZ(z) + small * Expm1LessT(sign * t));
        },
        [=](double t) {
            if (log_of == LogOf::kNeither) return 0.0;
            const double rest = -Log1p(x * Expm1(-t));
            return log_of == LogOf::kRest ? rest : rest - t;
        });
    const double log_x = is_y ? Log1p(-y) : Log(x);
    const double log_y = is_y ? Log(y) : Log1p(-x);
    const double off = (log_of == LogOf::kRest ? log_y : log_x) - mean_log;
    return {tail.plain, tail.plain * off + tail.weighted};
}

CX_PART double BetaLower(double a, double b, double x, double y) {
    const double factor = BetaFactor(a, b, x, y);
    if (factor == 0) return 0;
    return factor * (a >= kLargeExponent ? BetaTail(a, b, x, y, 0, LogOf::kNeither).p
                                         : BetaFraction(a, b, x));
}

// Below the mean; but the continued fraction is used longer than the integral, which has a peak
// only if both exponents are large.
CX_PART bool IsLower(double a, double b, double x, double y) {
    const bool large = a >= kLargeExponent && b >= kLargeExponent;
    return large ? OffMean(a, b, x, y) < 0 : OffMean(a + 1, b + 1, x, y) < 0;
}

CX_PART Both BetaBoth(double a, double b, double x, double y) {
    if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return {kNan, kNan};
    if ((a < kNone && b < kNone) || (a == kInfinity && b == kInfinity)) return {kNan, kNan};
    if (a < kNone || b == kInfinity) return OfBelow(x == 0 ? 0 : 1);
    if (b < kNone || a == kInfinity) return OfBelow(y == 0 ? 1 : 0);
    if (x == 0 || y == 0) return OfBelow(x);
    return IsLower(a, b, x, y) ? OfBelow(BetaLower(a, b, x, y)) : OfAbove(BetaLower(b, a, y, x));
}

// The derivatives of the lower tail over the factor, by a and by b; x is below the mean.
CX_PART double BetaLowerSlopeA(double a, double b, double x, double y) {
    const double sum = a + b;
    if (a >= kLargeExponent) return BetaTail(a, b, x, y, Digamma(a) - Digamma(sum)).slope;
    // DLMF 8.17.8
    return SeriesSlope(
        1 / a, Log(x) - Digamma(a + 1) + Digamma(sum),
        [=](int k) { return x * ((sum + k - 1) / (a + k)); },
        [=](int k) { return 1 / (sum + k - 1) - 1 / (a + k); });
}
CX_PART double BetaLowerSlopeB(double a, double b, double x, double y) {
    const double sum = a + b;
    const double mean_log = Digamma(b) - Digamma(sum);
    if (a >= kLargeExponent) return BetaTail(a, b, x, y, mean_log, LogOf::kRest).slope;
    const double log_y = y > 0.5 ? Log1p(-x) : Log(y);
    return SeriesSlope(
        1 / a, log_y - mean_log, [=](int k) { return x * ((sum + k - 1) / (a + k)); },
        [=](int k) { return 1 / (sum + k - 1); });
}

// The derivative of the lower tail by a, or by b.
CX_PART double BetaSlope(double a, double b, double x, double y, bool in_a) {
    if (!(a > kNone && b > kNone && x >= 0 && x <= 1)) return kNan;
    if (a == kInfinity || b == kInfinity) return kNan;
    const double factor = x == 0 || y == 0 ? 0 : BetaFactor(a, b, x, y);
    if (factor == 0) return 0;
    if (IsLower(a, b, x, y)) {
        return factor * (in_a ? BetaLowerSlopeA(a, b, x, y) : BetaLowerSlopeB(a, b, x, y));
    }
    return -factor * (in_a ? BetaLowerSlopeB(b, a, y, x) : BetaLowerSlopeA(b, a, y, x));
}

CX_PART double BetaDensity(double a, double b, double x, double y) {
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a == kInfinity || b == kInfinity) return kNan;
    if (x == 0) return a < 1 ? kInfinity : a == 1 ? b : 0;
    if (y == 0) return b < 1 ? kInfinity : b == 1 ? a : 0;
    return BetaFactor(a, b, x, y) / x / y;
}

// The logarithm of the lower tail. If it underflows, it is log(factor) plus the logarithm of the
// integral or series.
template <LogPart part>
CX_PART double LogOfBeta(double a, double b, double x, double y) {
    const Both both = BetaBoth(a, b, x, y);
    const double p = both.below;
    if (!(p < kVanishing)) {
        if constexpr (part == LogPart::kValue) return LogOfPart(p, both.above);
        if constexpr (part == LogPart::kPoint) return BetaDensity(a, b, x, y) / p;
        return BetaSlope(a, b, x, y, part == LogPart::kFirst) / p;
    }
    if (x == 0 || y == 0 || !(a + b < kInfinity) || a < kNone || b < kNone) {
        return part == LogPart::kValue ? -kInfinity : kNan;
    }
    const double tail =
        a >= kLargeExponent ? BetaTail(a, b, x, y, 0, LogOf::kNeither).p : BetaFraction(a, b, x);
    if constexpr (part == LogPart::kValue) return LogBetaFactor(a, b, x, y) + Log(tail);
    if constexpr (part == LogPart::kPoint) return 1 / x / y / tail;
    return (part == LogPart::kFirst ? BetaLowerSlopeA(a, b, x, y) : BetaLowerSlopeB(a, b, x, y)) /
           tail;
}

// The upper tail is the lower tail of 1 - x with swapped exponents.
constexpr LogPart Swapped(LogPart part) {
    return part == LogPart::kFirst    ? LogPart::kSecond
           : part == LogPart::kSecond ? LogPart::kFirst
                                      : part;
}

// The x <= 1/2 with lower tail p and upper tail q; it must be there.
CX_PART double SolveBeta(double a, double b, double p, double q) {
    const double low = Exp((Log(p * a) + LogGamma(a) + LogGamma(b) - LogGamma(a + b)) / a);
    const double guess = low < 0.1 * a / (a + b) ? low : a / (a + b);
    const auto density = [=](double x) { return native::BetaDensity(a, b, x); };
    if (p <= q) {
        return SolveTail(p, guess, 1, true, [=](double x) { return BetaBelow(a, b, x); }, density);
    }
    return SolveTail(
        q, guess, 1, false, [=](double x) { return BetaBoth(a, b, x, 1 - x).above; }, density);
}

}  // namespace

CX_PART double BetaBelow(double a, double b, double x) { return BetaBoth(a, b, x, 1 - x).below; }

CX_PART double BetaAbove(double a, double b, double x) { return BetaBoth(a, b, x, 1 - x).above; }

CX_PART double BetaBelowSlopeA(double a, double b, double x) {
    return BetaSlope(a, b, x, 1 - x, true);
}
CX_PART double BetaBelowSlopeB(double a, double b, double x) {
    return BetaSlope(a, b, x, 1 - x, false);
}

CX_PART double BetaDensity(double a, double b, double x) { return BetaDensity(a, b, x, 1 - x); }

CX_PART double LogBetaDensity(double a, double b, double x) {
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a == kInfinity || b == kInfinity) return kNan;
    if (x == 0 || x == 1) return Log(BetaDensity(a, b, x));
    const double y = 1 - x;
    return LogBetaFactor(a, b, x, y) - Log(x) - (y > 0.5 ? Log1p(-x) : Log(y));
}

#define CX_LOG_OF(Name, part)                                         \
    CX_PART double LogBetaBelow##Name(double a, double b, double x) { \
        return LogOfBeta<LogPart::part>(a, b, x, 1 - x);              \
    }                                                                 \
    CX_PART double LogBetaAbove##Name(double a, double b, double x) { \
        return LogOfBeta<Swapped(LogPart::part)>(b, a, 1 - x, x);     \
    }
CX_LOG_OF(, kValue)
CX_LOG_OF(Rate, kPoint)
CX_LOG_OF(SlopeA, kFirst)
CX_LOG_OF(SlopeB, kSecond)
#undef CX_LOG_OF

CX_PART double BetaBelowInverse(double a, double b, double p) {
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNan;
    if (p == 0 || p == 1) return p;
    if (a == kInfinity || b == kInfinity) return kNan;
    const double q = 1 - p;
    if (p <= BetaBelow(a, b, 0.5)) return SolveBeta(a, b, p, q);
    return 1 - SolveBeta(b, a, q, p);
}

}  // namespace chainerx::native
