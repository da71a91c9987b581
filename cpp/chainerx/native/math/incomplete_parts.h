// Shared parts of the incomplete gamma and beta functions: logarithms without cancellation, the
// integral over a tail, series, and the inversion of a tail.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

// A device would inline everything and unroll it, which takes minutes. There these are calls, of
// which only those that are used are compiled.
#if defined(__CUDACC_RTC__)
#define CX_APART __noinline__
#define CX_PART inline __noinline__
#define CX_ROLLED _Pragma("unroll 1")
#else
#define CX_APART
#define CX_PART
#define CX_ROLLED
#endif

namespace chainerx::native::incomplete {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr double kTiny = std::numeric_limits<double>::min();
inline constexpr double kTwoPi = 6.283185307179586477;
// From here on Stirling's series has full precision, and tails are integrated.
inline constexpr double kLargeExponent = 20;
inline constexpr double kNone = 1e-290;  // an exponent that counts as 0
inline constexpr int kMaxTerms = 10000;

// Those of the standard library.
CX_APART inline double Exp(double x) { return std::exp(x); }
CX_APART inline double Expm1(double x) { return std::expm1(x); }
CX_APART inline double Log(double x) { return std::log(x); }
CX_APART inline double Log1p(double x) { return std::log1p(x); }
CX_APART inline double Pow(double x, double y) { return std::pow(x, y); }
CX_APART inline double Gamma(double x) { return std::tgamma(x); }

// Not std::lgamma, which writes the sign to a global variable.
CX_APART inline double LogGamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

// lgamma(x) less (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1).
CX_APART inline double StirlingRest(double x) {
    static constexpr double kSeries[] = {1.0 / 12,    -1.0 / 360,      1.0 / 1260,
                                         -1.0 / 1680, 1.0 / 1188,      -691.0 / 360360.0,
                                         1.0 / 156,   -3617.0 / 122400};
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
inline constexpr Reciprocals kReciprocals;

// exp(t) - 1 - t.
CX_APART inline double Expm1LessT(double t) {
    if (std::abs(t) > 1) return Expm1(t) - t;
    const int last = std::abs(t) < 0.25 ? 13 : 19;
    double sum = 0;
    CX_ROLLED
    for (int k = last; k >= 2; --k) sum = sum * t + kReciprocals.factorial[k];
    return sum * t * t;
}

// log(1 + z) - z.
CX_APART inline double Log1pLessZ(double z) {
    if (z < -0.5 || z > 1) return Log1p(z) - z;
    // log(1 + z) = 2 artanh(r), and 2 r - z = -z r
    const double r = z / (2 + z);
    const double square = r * r;
    const int last = square < 0.01 ? 8 : 18;
    double sum = 0;
    CX_ROLLED
    for (int k = last; k >= 1; --k) sum = sum * square + kReciprocals.odd[k];
    return 2 * r * square * sum - z * r;
}

// z - log(1 + z), given sum = 1 + z as well, which may be far below 1.
CX_APART inline double HumpDepth(double z, double sum) {
    return z < -0.5 ? z - Log(sum) : -Log1pLessZ(z);
}

// The integrals of exp(-g) and of w exp(-g) over t > 0, where g is convex, rises from 0, and has
// about this slope and curvature at 0: three panels of 20-point Gauss-Legendre quadrature.
struct Integrals {
    double plain;
    double weighted;
};
CX_PART Integrals TailIntegrals(double slope, double curvature, const auto& g, const auto& w) {
    static constexpr double kPoints[][2] = {{0.993128599185094925, 0.0176140071391521183},
                                            {0.963971927277913791, 0.0406014298003869413},
                                            {0.912234428251325906, 0.0626720483341090636},
                                            {0.839116971822218823, 0.0832767415767047487},
                                            {0.746331906460150793, 0.101930119817240435},
                                            {0.636053680726515025, 0.118194531961518417},
                                            {0.510867001950827098, 0.131688638449176627},
                                            {0.373706088715419561, 0.142096109318382051},
                                            {0.227785851141645078, 0.149172986472603747},
                                            {0.0765265211334973338, 0.152753387130725851}};
    if (slope > 1e150) return {1 / slope, w(1 / slope) / slope};
    constexpr double kDepth = 42;
    // slope t + curvature t^2 / 2 = depth
    double end = 2 * kDepth / (slope + std::hypot(slope, std::sqrt(2 * curvature * kDepth)));
    end = std::min(end, 600.0);
    CX_ROLLED
    while (g(end) > 1.5 * kDepth) end *= 0.75;
    CX_ROLLED
    while (g(end) < 0.9 * kDepth && end < 600) end *= 1.25;
    constexpr int kPanels = 3;
    const double half = end / (2 * kPanels);
    Integrals sum{0, 0};
    CX_ROLLED
    for (int panel = kPanels - 1; panel >= 0; --panel) {
        const double middle = (2 * panel + 1) * half;
        CX_ROLLED
        for (const auto& [x, weight] : kPoints) {
            CX_ROLLED
            for (const double t : {middle + half * x, middle - half * x}) {
                const double part = weight * half * Exp(-g(t));
                sum.plain += part;
                sum.weighted += part * w(t);
            }
        }
    }
    return sum;
}

// The integral over a tail relative to the density at its start, and the derivative by an exponent,
// relative to the same.
struct Rate {
    double p;
    double slope;
};

// Both tails, of which the smaller one has full precision.
struct Both {
    double below;
    double above;
};

inline Both OfBelow(double p) { return {p, 1 - p}; }
inline Both OfAbove(double q) { return {1 - q, q}; }

// log(p), given q = 1 - p.
CX_APART inline double LogOfPart(double p, double q) { return p > 0.5 ? Log1p(-q) : Log(p); }

CX_APART inline double Digamma(double x) {
    double sum = 0;
    CX_ROLLED
    for (; x < 10; ++x) sum -= 1 / x;
    const double v = 1 / (x * x);
    static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,       1.0 / 252, -1.0 / 240,
                                         1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
    double tail = 0;
    for (int k = 6; k >= 0; --k) tail = (tail + kSeries[k]) * v;
    return sum + Log(x) - 0.5 / x - tail;
}

// The requested part of the logarithm of a probability: its value, or its derivative by an operand.
enum class LogPart { kValue, kPoint, kFirst, kSecond };

// Below this, a probability has lost precision.
inline constexpr double kVanishing = 1e-290;

// The derivative of factor * (the sum of terms that are products of ratio(k)). slope(k) is the
// logarithmic derivative of ratio(k), log_slope that of the factor.
CX_PART double SeriesSlope(double factor, double log_slope, const auto& ratio, const auto& slope) {
    double term = 1;
    double sum = log_slope;
    CX_ROLLED
    for (int k = 1; k < kMaxTerms && term > kEpsilon / 16; ++k) {
        term *= ratio(k);
        log_slope += slope(k);
        sum += term * log_slope;
    }
    return factor * sum;
}

// Solves tail(x) = p for 0 < x <= `most`, where tail rises if `rises`: Newton's method on log(tail)
// by log(x), with bisection if a step leaves the bracket.
CX_PART double SolveTail(double p, double guess, double most, bool rises, const auto& tail,
                         const auto& density) {
    double low = 0;
    double high = most;
    double x = guess;
    CX_ROLLED
    for (int k = 0; k < 200; ++k) {
        if (!(x > low && x < high)) {
            // The midpoint of the exponents, since they span a wide range.
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
        const double slope = density(x) * x / y;  // by logarithms
        const double step = Log(y / p) / (rises ? slope : -slope);
        if (std::abs(step) < kEpsilon) return x;
        const double next = x * Exp(-step);
        if (std::isfinite(next) && std::abs(next - x) <= kEpsilon / 2 * x) return next;
        x = std::isfinite(step) ? next : kNan;
    }
    return x;
}

}  // namespace chainerx::native::incomplete
