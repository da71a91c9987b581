// Each of the series, the continued fraction and the quadrature is used where it is short: series
// and fractions for small exponents or far from the middle; otherwise an integral over the tail,
// whose integrand has a single peak of known scale.
#include "chainerx/native/math/incomplete_gamma_beta.h"

#include <algorithm>
#include <cmath>

#include "chainerx/native/math/incomplete_parts.h"

namespace chainerx::native {
namespace {

using namespace incomplete;

// lgamma(1 + a) for 0 <= a <= 1.5, by the Taylor series of lgamma(1 + z) + log(1 + z).
CX_PART double LogGamma1p(double a) {
    const bool shifts = a > 0.5;
    if (shifts) a -= 1;
    static constexpr double kSeries[] = {
        0.322467033424113218,      -0.0673523010531980951,   0.0205808084277845479,
        -0.00738555102867398527,   0.00289051033074152329,   -0.00119275391170326098,
        0.000509669524743042422,   -0.00022315475845357938,  0.0000994575127818085337,
        -0.0000449262367381331417, 0.0000205072127756706916, -9.4394882752683959e-6,
        4.3748667899074878e-6,     -2.03921575380136624e-6,  9.55141213040741983e-7,
        -4.49246919876456604e-7,   2.12071848055546659e-7,   -1.00432248239680996e-7,
        4.76981016936398057e-8,    -2.27110946089431649e-8,  1.08386592148969541e-8,
        -5.18347504197004666e-9,   2.48367454380247832e-9,   -1.19214014058609121e-9,
        5.73136724167886201e-10,   -2.75952288512423315e-10, 1.33047643742444895e-10,
        -6.42296456383810002e-11};
    double sum = 0;
    CX_ROLLED
    for (int k = sizeof(kSeries) / sizeof(double) - 1; k >= 0; --k) sum = sum * a + kSeries[k];
    const double y = a * (0.42278433509846713939 + a * sum) - Log1p(a);
    return shifts ? Log1p(a) + y : y;
}

// x^a exp(-x) / Gamma(a), for x > 0.
CX_PART double GammaFactor(double a, double x) {
    if (a >= kLargeExponent) {
        const double depth = HumpDepth((x - a) / a, x / a);
        return Exp(-a * depth - StirlingRest(a)) * std::sqrt(a / kTwoPi);
    }
    if (x > 600) return Exp(a * Log(x) - x - LogGamma(a));
    return a * (Pow(x, a) * Exp(-x) / Gamma(a + 1));
}

// The logarithm of GammaFactor.
CX_PART double LogGammaFactor(double a, double x) {
    if (a < kLargeExponent) return a * Log(x) - x - LogGamma(a);
    const double depth = HumpDepth((x - a) / a, x / a);
    return 0.5 * Log(a / kTwoPi) - a * depth - StirlingRest(a);
}

// The smaller tail over the factor, for a >= kLargeExponent or x above a, and its derivative.
// exp(-g) is the density of log(x) relative to that at x. The derivative of an integral of
// densities by the exponent is the integral of their products with log(x), minus the mean of
// log(x).
CX_PART Rate GammaTail(double a, double x, double mean_log) {
    const double sign = x < a ? -1 : 1;
    const double slope = std::abs(x - a);
    // Integrates from x to x exp(sign t).
    const Integrals tail = TailIntegrals(
        slope, x < a ? x / 3 : x, [=](double t) { return slope * t + x * Expm1LessT(sign * t); },
        [=](double t) { return sign * t; });
    const double off = Log(x) - mean_log;
    return {tail.plain, tail.plain * off + tail.weighted};
}

// The smaller tail, for a >= kLargeExponent.
CX_PART double GammaTail(double a, double x) {
    const double factor = GammaFactor(a, x);
    return factor == 0 ? 0 : factor * GammaTail(a, x, 0).p;
}

// The lower tail over the factor.
CX_PART double GammaSeriesSum(double a, double x) {
    double term = 1;
    double sum = 1;
    CX_ROLLED
    for (int k = 1; k < kMaxTerms && term > kEpsilon / 4 * sum; ++k) {
        term *= x / (a + k);
        sum += term;
    }
    return sum / a;
}
CX_PART double GammaSeries(double a, double x) { return GammaFactor(a, x) * GammaSeriesSum(a, x); }

// The derivative of the lower tail by a, given the factor.
CX_PART double GammaSeriesSlope(double a, double x, double factor) {
    return SeriesSlope(
        factor / a, Log(x) - Digamma(a + 1), [=](int k) { return x / (a + k); },
        [=](int k) { return -1 / (a + k); });
}

// The continued fraction DLMF 8.9.2, by the modified Lentz method.
CX_PART double GammaFraction(double a, double x) {
    double b = x + 1 - a;
    double c = 1 / kTiny;
    double d = 1 / b;
    double y = d;
    CX_ROLLED
    for (int k = 1; k < kMaxTerms; ++k) {
        const double an = -k * (k - a);
        b += 2;
        d = an * d + b;
        if (std::abs(d) < kTiny) d = kTiny;
        c = b + an / c;
        if (std::abs(c) < kTiny) c = kTiny;
        d = 1 / d;
        const double step = d * c;
        y *= step;
        if (std::abs(step - 1) < kEpsilon) break;
    }
    return GammaFactor(a, x) * y;
}

// The upper tail for x and a below 1.3, without cancellation of 1 and a number near it (DLMF
// 8.7.3).
CX_PART double GammaAboveSmall(double a, double x) {
    double factor = 1;
    double sum = 0;
    CX_ROLLED
    for (int k = 1; k < kMaxTerms; ++k) {
        factor *= -x / k;
        const double term = factor / (a + k);
        sum += term;
        if (std::abs(term) <= kEpsilon / 4 * std::abs(sum)) break;
    }
    const double log = a * Log(x) - LogGamma1p(a);
    return -Expm1(log) - a * Exp(log) * sum;
}

CX_PART Both GammaBoth(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == kInfinity && x == kInfinity)) return {kNan, kNan};
    if (a < kNone) return x == 0 && a == 0 ? Both{kNan, kNan} : OfBelow(x == 0 ? 0 : 1);
    if (x == 0 || a == kInfinity) return OfBelow(0);
    if (x == kInfinity) return OfBelow(1);
    if (a >= kLargeExponent) {
        return x < a ? OfBelow(GammaTail(a, x)) : OfAbove(GammaTail(a, x));
    }
    if (x > 1.1) return x > a ? OfAbove(GammaFraction(a, x)) : OfBelow(GammaSeries(a, x));
    // For x <= 1/2 the first condition tells which tail is smaller, above it the second.
    const bool is_below_small = x <= 0.5 ? -0.4 / Log(x) < a : x < a * 1.1;
    if (is_below_small) return OfBelow(GammaSeries(a, x));
    return {GammaSeries(a, x), GammaAboveSmall(a, x)};
}

CX_PART double SolveGamma(double a, double p, double q) {
    if (!(a >= 0 && p >= 0 && q >= 0)) return kNan;
    if (p == 0) return 0;
    if (q == 0) return kInfinity;
    if (a == kInfinity) return kNan;
    if (a < kNone) return 0;
    const double smaller = std::min(p, q);
    // For small x the lower tail is about x^a / Gamma(a + 1); starts from there, or from the
    // middle.
    const double low = Exp((Log(p) + LogGamma(a + 1)) / a);
    const double guess = low < 0.2 * a + 0.2 ? low : a;
    if (low < kTiny) return low;
    return p <= q
               ? SolveTail(
                     smaller, guess, kInfinity, true, [=](double x) { return GammaBelow(a, x); },
                     [=](double x) { return GammaDensity(a, x); })
               : SolveTail(
                     smaller, guess, kInfinity, false, [=](double x) { return GammaAbove(a, x); },
                     [=](double x) { return GammaDensity(a, x); });
}

// If a probability underflows, its logarithm is log(factor) plus that of the integral or series.
template <LogPart part>
CX_PART double LogOfGamma(double a, double x, bool above) {
    const Both both = GammaBoth(a, x);
    const double p = above ? both.above : both.below;
    if (!(p < kVanishing)) {
        const double sign = above ? -1 : 1;
        if constexpr (part == LogPart::kValue) return LogOfPart(p, above ? both.below : both.above);
        if constexpr (part == LogPart::kPoint) return GammaDensity(a, x) / p;
        return sign * GammaBelowSlope(a, x) / p;
    }
    if (x == 0 || x == kInfinity || a == kInfinity || a < kNone) {
        return part == LogPart::kValue ? -kInfinity : kNan;
    }
    const bool is_summed = !above && a < kLargeExponent;
    const Rate tail = is_summed ? Rate{GammaSeriesSum(a, x), 0} : GammaTail(a, x, Digamma(a));
    if constexpr (part == LogPart::kValue) return LogGammaFactor(a, x) + Log(tail.p);
    if constexpr (part == LogPart::kPoint) return 1 / x / tail.p;
    return (is_summed ? GammaSeriesSlope(a, x, 1) : tail.slope) / tail.p;
}

}  // namespace

CX_PART double GammaBelow(double a, double x) { return GammaBoth(a, x).below; }
CX_PART double GammaAbove(double a, double x) { return GammaBoth(a, x).above; }

CX_PART double GammaBelowSlope(double a, double x) {
    if (!(a >= 0 && x >= 0) || a == kInfinity) return kNan;
    if (x == 0 || x == kInfinity) return 0;
    if (a < kNone) return kNan;
    const double factor = GammaFactor(a, x);
    if (factor == 0) return 0;
    if (a >= kLargeExponent || (x > 1.1 && x > a)) {
        const double slope = factor * GammaTail(a, x, Digamma(a)).slope;
        return x < a ? slope : -slope;
    }
    return GammaSeriesSlope(a, x, factor);
}

CX_PART double GammaDensity(double a, double x) {
    if (!(a >= 0 && x >= 0)) return kNan;
    if (x == kInfinity || a == 0 || a == kInfinity) return x == 0 && a == 0 ? kNan : 0;
    if (x < 1e-280) return a < kLargeExponent ? Pow(x, a - 1) / Gamma(a) : 0;
    return GammaFactor(a, x) / x;
}

CX_PART double LogGammaDensity(double a, double x) {
    if (!(a >= 0 && x >= 0)) return kNan;
    if (x == kInfinity || a == 0 || a == kInfinity) return x == 0 && a == 0 ? kNan : -kInfinity;
    if (x == 0) return a < 1 ? kInfinity : a == 1 ? 0 : -kInfinity;
    if (a < kLargeExponent) return (a - 1) * Log(x) - x - LogGamma(a);
    return LogGammaFactor(a, x) - Log(x);
}

CX_PART double LogGammaBelow(double a, double x) {
    return LogOfGamma<LogPart::kValue>(a, x, false);
}
CX_PART double LogGammaAbove(double a, double x) { return LogOfGamma<LogPart::kValue>(a, x, true); }
CX_PART double LogGammaBelowRate(double a, double x) {
    return LogOfGamma<LogPart::kPoint>(a, x, false);
}
CX_PART double LogGammaAboveRate(double a, double x) {
    return LogOfGamma<LogPart::kPoint>(a, x, true);
}
CX_PART double LogGammaBelowSlope(double a, double x) {
    return LogOfGamma<LogPart::kFirst>(a, x, false);
}
CX_PART double LogGammaAboveSlope(double a, double x) {
    return LogOfGamma<LogPart::kFirst>(a, x, true);
}

CX_PART double GammaBelowInverse(double a, double p) { return SolveGamma(a, p, 1 - p); }
CX_PART double GammaAboveInverse(double a, double p) { return SolveGamma(a, 1 - p, p); }

}  // namespace chainerx::native
