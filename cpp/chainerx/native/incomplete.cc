// Which of a sum, a continued fraction and a quadrature is used goes by where it is short: sums and
// fractions for small exponents, or far from the middle; for others an integral over the tail,
// which is one hump whose scale is known.
#include "chainerx/native/incomplete.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace chainerx::native {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTiny = std::numeric_limits<double>::min();
constexpr double kTwoPi = 6.283185307179586477;
// From here on Stirling's series has all digits, and tails are integrated.
constexpr double kLargeExponent = 20;
constexpr double kNone = 1e-290;  // an exponent that is as good as 0
constexpr int kMostTerms = 10000;

// Not std::lgamma, which writes the sign to a variable of the process.
double LogGamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

// lgamma(x) less (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1).
double StirlingRest(double x) {
    constexpr double kSeries[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360.0, 1.0 / 156,  -3617.0 / 122400};
    const double v = 1 / x;
    double sum = 0;
    for (int k = 7; k >= 0; --k) sum = sum * (v * v) + kSeries[k];
    return sum * v;
}

// 1 / k!, and 1 / (2 k + 1).
struct Reciprocals {
    double factorial[22]{};
    double odd[23]{};
    constexpr Reciprocals() {
        long double product = 1;
        for (int k = 0; k < 22; ++k) {
            product *= k > 0 ? k : 1;
            factorial[k] = static_cast<double>(1 / product);
        }
        for (int k = 0; k < 23; ++k) odd[k] = 1.0 / (2 * k + 1);
    }
};
constexpr Reciprocals kReciprocals;

// exp(t) - 1 - t.
double Expm1LessT(double t) {
    if (std::abs(t) > 1) return std::expm1(t) - t;
    const int last = std::abs(t) < 0.25 ? 13 : 19;
    double sum = 0;
    for (int k = last; k >= 2; --k) sum = sum * t + kReciprocals.factorial[k];
    return sum * t * t;
}

// log(1 + z) - z.
double Log1pLessZ(double z) {
    if (z < -0.5 || z > 1) return std::log1p(z) - z;
    // log(1 + z) = 2 artanh(r), and 2 r - z = -z r
    const double r = z / (2 + z);
    const double square = r * r;
    const int last = square < 0.01 ? 8 : 18;
    double sum = 0;
    for (int k = last; k >= 1; --k) sum = sum * square + kReciprocals.odd[k];
    return 2 * r * square * sum - z * r;
}

// z - log(1 + z), where the sum is given as well, which may be far below 1.
double HumpDepth(double z, double sum) { return z < -0.5 ? z - std::log(sum) : -Log1pLessZ(z); }

// lgamma(1 + a) for 0 <= a <= 1.5, by the Taylor series of lgamma(1 + z) + log(1 + z).
double LogGamma1p(double a) {
    if (a > 0.5) return std::log1p(a - 1) + LogGamma1p(a - 1);
    constexpr double kSeries[] = {
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
    for (int k = sizeof(kSeries) / sizeof(double) - 1; k >= 0; --k) sum = sum * a + kSeries[k];
    return a * (0.42278433509846713939 + a * sum) - std::log1p(a);
}

// The integrals of exp(-g) and of w exp(-g) over t > 0, where g rises from 0 ever more steeply,
// with about this slope and curvature at first: three panels of 20 points of Gauss and Legendre.
struct Integrals {
    double plain;
    double weighted;
};
template <typename G, typename W>
Integrals TailIntegrals(double slope, double curvature, const G& g, const W& w) {
    constexpr double kPoints[][2] = {{0.993128599185094925, 0.0176140071391521183},
                                     {0.963971927277913791, 0.0406014298003869413},
                                     {0.912234428251325906, 0.0626720483341090636},
                                     {0.839116971822218823, 0.0832767415767047487},
                                     {0.746331906460150793, 0.101930119817240435},
                                     {0.636053680726515025, 0.118194531961518417},
                                     {0.510867001950827098, 0.131688638449176627},
                                     {0.373706088715419561, 0.142096109318382051},
                                     {0.227785851141645078, 0.149172986472603747},
                                     {0.0765265211334973338, 0.152753387130725851}};
    constexpr double kDepth = 42;
    // slope t + curvature t^2 / 2 = depth
    double end = 2 * kDepth / (slope + std::sqrt(slope * slope + 2 * curvature * kDepth));
    end = std::min(end, 600.0);
    while (g(end) > 1.5 * kDepth) end *= 0.75;
    while (g(end) < 0.9 * kDepth && end < 600) end *= 1.25;
    constexpr int kPanels = 3;
    const double half = end / (2 * kPanels);
    Integrals sum{0, 0};
    for (int panel = kPanels - 1; panel >= 0; --panel) {
        const double middle = (2 * panel + 1) * half;
        for (const auto& [x, weight] : kPoints) {
            for (const double t : {middle + half * x, middle - half * x}) {
                const double part = weight * half * std::exp(-g(t));
                sum.plain += part;
                sum.weighted += part * w(t);
            }
        }
    }
    return sum;
}

// ---- gamma

// x^a exp(-x) / Gamma(a), for x > 0.
double GammaFactor(double a, double x) {
    if (a >= kLargeExponent) {
        const double depth = HumpDepth((x - a) / a, x / a);
        return std::exp(-a * depth - StirlingRest(a)) * std::sqrt(a / kTwoPi);
    }
    if (x > 600) return std::exp(a * std::log(x) - x - LogGamma(a));
    return a * (std::pow(x, a) * std::exp(-x) / std::tgamma(a + 1));
}

// A probability, and its derivative in an exponent.
struct Rate {
    double p;
    double slope;
};

// exp(-g) is the density of log(x) over that at x. Of a sum of densities the derivative in the
// exponent is the sum of their products with log(x), less the mean of that.
Rate GammaTail(double a, double x, double mean_log) {
    const double factor = GammaFactor(a, x);
    if (factor == 0) return {0, 0};
    const double sign = x < a ? -1 : 1;
    const double slope = std::abs(x - a);
    // From x to x exp(sign t).
    const Integrals tail = TailIntegrals(
        slope, x < a ? x / 3 : x, [=](double t) { return slope * t + x * Expm1LessT(sign * t); },
        [=](double t) { return sign * t; });
    const double off = std::log(x) - mean_log;
    return {factor * tail.plain, factor * (tail.plain * off + tail.weighted)};
}

// The smaller of both, for a >= kLargeExponent.
double GammaTail(double a, double x) { return GammaTail(a, x, 0).p; }

double GammaSeries(double a, double x) {
    double term = 1;
    double sum = 1;
    for (int k = 1; k < kMostTerms && term > kEpsilon / 4 * sum; ++k) {
        term *= x / (a + k);
        sum += term;
    }
    return GammaFactor(a, x) / a * sum;
}

// The continued fraction DLMF 8.9.2, by the method of Lentz and Thompson.
double GammaFraction(double a, double x) {
    double b = x + 1 - a;
    double c = 1 / kTiny;
    double d = 1 / b;
    double y = d;
    for (int k = 1; k < kMostTerms; ++k) {
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

// Above, for x and a below 1.3, without the difference of 1 and a number near it (DLMF 8.7.3).
double GammaAboveSmall(double a, double x) {
    double factor = 1;
    double sum = 0;
    for (int k = 1; k < kMostTerms; ++k) {
        factor *= -x / k;
        const double term = factor / (a + k);
        sum += term;
        if (std::abs(term) <= kEpsilon / 4 * std::abs(sum)) break;
    }
    const double log = a * std::log(x) - LogGamma1p(a);
    return -std::expm1(log) - a * std::exp(log) * sum;
}

// Both probabilities, of which the smaller one has all digits.
struct Both {
    double below;
    double above;
};

Both OfBelow(double p) { return {p, 1 - p}; }
Both OfAbove(double q) { return {1 - q, q}; }

Both GammaBoth(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == kInfinity && x == kInfinity)) return {kNan, kNan};
    if (a < kNone) return x == 0 && a == 0 ? Both{kNan, kNan} : OfBelow(x == 0 ? 0 : 1);
    if (x == 0 || a == kInfinity) return OfBelow(0);
    if (x == kInfinity) return OfBelow(1);
    if (a >= kLargeExponent) {
        return x < a ? OfBelow(GammaTail(a, x)) : OfAbove(GammaTail(a, x));
    }
    if (x > 1.1) return x > a ? OfAbove(GammaFraction(a, x)) : OfBelow(GammaSeries(a, x));
    // For x up to 1/2 the one is the smaller, for x above it the other.
    const bool is_below_small = x <= 0.5 ? -0.4 / std::log(x) < a : x < a * 1.1;
    if (is_below_small) return OfBelow(GammaSeries(a, x));
    return {GammaSeries(a, x), GammaAboveSmall(a, x)};
}

// ---- beta

// (a + b) x - a = b - (a + b) y, by the one of both that is not rounded.
double OffMean(double a, double b, double x, double y) {
    return x <= y ? std::fma(a + b, x, -a) : -std::fma(a + b, y, -b);
}

// x^a y^b / Beta(a, b) for y = 1 - x, neither 0.
double BetaFactor(double a, double b, double x, double y) {
    if (a < b) {
        std::swap(a, b);
        std::swap(x, y);
    }
    const double sum = a + b;
    if (b >= kLargeExponent) {
        const double off = OffMean(a, b, x, y);
        const double depth =
            a * HumpDepth(off / a, x * (sum / a)) + b * HumpDepth(-off / b, y * (sum / b));
        const double rest = StirlingRest(sum) - StirlingRest(a) - StirlingRest(b);
        return std::sqrt(b / kTwoPi * (a / sum)) * std::exp(rest - depth);
    }
    if (a >= kLargeExponent) {
        const double log_x = x > 0.5 ? std::log1p(-y) : std::log(x);
        const double log =
            a * log_x + (sum - 0.5) * std::log1p(b / a) - b + StirlingRest(sum) - StirlingRest(a);
        const double power = a < 1e290 ? std::pow(y * a, b) : std::pow(y, b) * std::pow(a, b);
        return b * std::exp(log) * power / std::tgamma(b + 1);
    }
    const double power = std::pow(x, a) * std::pow(y, b);
    return power * (b * (a / sum)) *
           (std::tgamma(sum + 1) / (std::tgamma(a + 1) * std::tgamma(b + 1)));
}

// The continued fraction DLMF 8.17.22.
double BetaFraction(double a, double b, double x, double y) {
    const double sum = a + b;
    double c = 1;
    double d = 1 - sum * x / (a + 1);
    if (std::abs(d) < kTiny) d = kTiny;
    d = 1 / d;
    double f = d;
    for (int m = 1; m < kMostTerms; ++m) {
        const double end = a + 2 * m;
        double step = 1;
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
    return BetaFactor(a, b, x, y) / a * f;
}

// Below x, for x below the mean and a >= kLargeExponent; and the derivative in a, or in b.
enum class LogOf { kPoint, kRest, kNeither };
Rate BetaTail(double a, double b, double x, double y, double mean_log,
              LogOf log_of = LogOf::kPoint) {
    const double factor = BetaFactor(a, b, x, y);
    if (factor == 0) return {0, 0};
    const double slope = std::max(0.0, -OffMean(a, b, x, y));
    // Down to odds that are exp(-t) of those of x: by the smaller of x and y, in either form.
    const bool is_y = y < x;
    const double small = is_y ? y : x;
    const double sign = is_y ? 1 : -1;
    const Integrals tail = TailIntegrals(
        slope, (a + b) * x * y / 3,
        [=](double t) {
            const double z = small * std::expm1(sign * t);
            return slope * t + (a + b) * (Log1pLessZ(z) + small * Expm1LessT(sign * t));
        },
        [=](double t) {
            if (log_of == LogOf::kNeither) return 0.0;
            const double rest = -std::log1p(x * std::expm1(-t));
            return log_of == LogOf::kRest ? rest : rest - t;
        });
    const double log_x = is_y ? std::log1p(-y) : std::log(x);
    const double log_y = is_y ? std::log(y) : std::log1p(-x);
    const double off = (log_of == LogOf::kRest ? log_y : log_x) - mean_log;
    return {factor * tail.plain, factor * (tail.plain * off + tail.weighted)};
}

double BetaLower(double a, double b, double x, double y) {
    return a >= kLargeExponent ? BetaTail(a, b, x, y, 0, LogOf::kNeither).p
                               : BetaFraction(a, b, x, y);
}

Both BetaBoth(double a, double b, double x, double y) {
    if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1)) return {kNan, kNan};
    if ((a < kNone && b < kNone) || (a == kInfinity && b == kInfinity)) return {kNan, kNan};
    if (a < kNone || b == kInfinity) return OfBelow(x == 0 ? 0 : 1);
    if (b < kNone || a == kInfinity) return OfBelow(y == 0 ? 1 : 0);
    if (x == 0 || y == 0) return OfBelow(x);
    // Below the mean, but the fraction serves longer than the integral, which has no hump without
    // two large exponents.
    const bool large = a >= kLargeExponent && b >= kLargeExponent;
    const bool is_lower = large ? OffMean(a, b, x, y) < 0 : OffMean(a + 1, b + 1, x, y) < 0;
    return is_lower ? OfBelow(BetaLower(a, b, x, y)) : OfAbove(BetaLower(b, a, y, x));
}

// ---- derivatives in the exponents

double Digamma(double x) {
    double sum = 0;
    for (; x < 10; ++x) sum -= 1 / x;
    const double v = 1 / (x * x);
    constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,       1.0 / 252, -1.0 / 240,
                                  1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
    double tail = 0;
    for (int k = 6; k >= 0; --k) tail = (tail + kSeries[k]) * v;
    return sum + std::log(x) - 0.5 / x - tail;
}

// The series whose terms are products of ratio(k), with derivatives of their logarithms; less what
// the logarithm of the factor before it changes.
template <typename Ratio, typename LogSlope>
double SeriesSlope(double factor, double log_slope, const Ratio& ratio, const LogSlope& slope) {
    double term = 1;
    double sum = log_slope;
    for (int k = 1; k < kMostTerms && term > kEpsilon / 16; ++k) {
        term *= ratio(k);
        log_slope += slope(k);
        sum += term * log_slope;
    }
    return factor * sum;
}

// ---- inverses

// The x > 0 up to `most` at which tail(x), which rises if `rises`, is p: Newton's steps for its
// logarithm in that of x, halving where they lead out of what is known.
template <typename Tail, typename Density>
double SolveTail(double p, double guess, double most, bool rises, const Tail& tail,
                 const Density& density) {
    double low = 0;
    double high = most;
    double x = guess;
    for (int k = 0; k < 200; ++k) {
        if (!(x > low && x < high)) {
            // In the middle of the exponents, which are many.
            if (low == 0) {
                x = high == kInfinity ? 1 : high * 0x1p-8;
                if (x < kTiny) return 0;
            } else {
                x = high == kInfinity ? low * 0x1p8 : std::sqrt(low) * std::sqrt(high);
                if (!(x > low && x < high)) return x >= high ? high : low;
                if (x == kInfinity) return x;
            }
        }
        const double y = tail(x);
        if (y == p) return x;
        ((y < p) == rises ? low : high) = x;
        const double slope = density(x) * x / y;  // of the logarithms
        const double step = std::log(y / p) / (rises ? slope : -slope);
        if (std::abs(step) < kEpsilon) return x;
        const double next = x * std::exp(-step);
        if (std::isfinite(next) && std::abs(next - x) <= kEpsilon / 2 * x) return next;
        x = std::isfinite(step) ? next : kNan;
    }
    return x;
}

double SolveGamma(double a, double p, double q) {
    if (!(a >= 0 && p >= 0 && q >= 0)) return kNan;
    if (p == 0) return 0;
    if (q == 0) return kInfinity;
    if (a == kInfinity) return kNan;
    if (a < kNone) return 0;
    const double smaller = std::min(p, q);
    // What is below small x is about x^a / Gamma(a + 1); from there, or from the middle.
    const double low = std::exp((std::log(p) + LogGamma(a + 1)) / a);
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

// The x up to 1/2 with p below, q above it, which are known to be there.
double SolveBeta(double a, double b, double p, double q) {
    const double low =
        std::exp((std::log(p * a) + LogGamma(a) + LogGamma(b) - LogGamma(a + b)) / a);
    const double guess = low < 0.1 * a / (a + b) ? low : a / (a + b);
    const auto density = [=](double x) { return BetaDensity(a, b, x); };
    if (p <= q) {
        return SolveTail(p, guess, 1, true, [=](double x) { return BetaBelow(a, b, x); }, density);
    }
    return SolveTail(
        q, guess, 1, false, [=](double x) { return BetaBoth(a, b, x, 1 - x).above; }, density);
}

}  // namespace

double GammaBelow(double a, double x) { return GammaBoth(a, x).below; }
double GammaAbove(double a, double x) { return GammaBoth(a, x).above; }

double GammaBelowSlope(double a, double x) {
    if (!(a >= 0 && x >= 0) || a == kInfinity) return kNan;
    if (x == 0 || x == kInfinity) return 0;
    if (a < kNone) return kNan;
    if (a >= kLargeExponent || (x > 1.1 && x > a)) {
        const double slope = GammaTail(a, x, Digamma(a)).slope;
        return x < a ? slope : -slope;
    }
    return SeriesSlope(
        GammaFactor(a, x) / a, std::log(x) - Digamma(a + 1), [=](int k) { return x / (a + k); },
        [=](int k) { return -1 / (a + k); });
}

double GammaDensity(double a, double x) {
    if (!(a >= 0 && x >= 0)) return kNan;
    if (x == kInfinity || a == 0 || a == kInfinity) return x == 0 && a == 0 ? kNan : 0;
    if (x < 1e-280) return a < kLargeExponent ? std::pow(x, a - 1) / std::tgamma(a) : 0;
    return GammaFactor(a, x) / x;
}

double GammaBelowInverse(double a, double p) { return SolveGamma(a, p, 1 - p); }
double GammaAboveInverse(double a, double p) { return SolveGamma(a, 1 - p, p); }

double BetaBelow(double a, double b, double x) { return BetaBoth(a, b, x, 1 - x).below; }

double BetaBelowSlope(double a, double b, double x) {
    if (!(a > kNone && b > kNone && x >= 0 && x <= 1)) return kNan;
    if (a == kInfinity || b == kInfinity) return kNan;
    const double y = 1 - x;
    if (x == 0 || y == 0) return 0;
    const double sum = a + b;
    const double common = Digamma(sum);
    const bool large = a >= kLargeExponent && b >= kLargeExponent;
    if (large ? OffMean(a, b, x, y) < 0 : OffMean(a + 1, b + 1, x, y) < 0) {
        if (a >= kLargeExponent) return BetaTail(a, b, x, y, Digamma(a) - common).slope;
        // DLMF 8.17.8
        return SeriesSlope(
            BetaFactor(a, b, x, y) / a, std::log(x) + common - Digamma(a + 1),
            [=](int k) { return x * ((sum + k - 1) / (a + k)); },
            [=](int k) { return 1 / (sum + k - 1) - 1 / (a + k); });
    }
    // By what is above x, in which a is the second exponent.
    if (b >= kLargeExponent) {
        return -BetaTail(b, a, y, x, Digamma(a) - common, LogOf::kRest).slope;
    }
    return -SeriesSlope(
        BetaFactor(a, b, x, y) / b, std::log(x) + common - Digamma(a),
        [=](int k) { return y * ((sum + k - 1) / (b + k)); },
        [=](int k) { return 1 / (sum + k - 1); });
}

double BetaDensity(double a, double b, double x) {
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || a == kInfinity || b == kInfinity) return kNan;
    if (x == 0) return a < 1 ? kInfinity : a == 1 ? b : 0;
    if (x == 1) return b < 1 ? kInfinity : b == 1 ? a : 0;
    return BetaFactor(a, b, x, 1 - x) / x / (1 - x);
}

double BetaBelowInverse(double a, double b, double p) {
    if (!(a > 0 && b > 0 && p >= 0 && p <= 1)) return kNan;
    if (p == 0 || p == 1) return p;
    if (a == kInfinity || b == kInfinity) return kNan;
    const double q = 1 - p;
    if (p <= BetaBelow(a, b, 0.5)) return SolveBeta(a, b, p, q);
    return 1 - SolveBeta(b, a, q, p);
}

}  // namespace chainerx::native
