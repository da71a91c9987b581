// Zipf and hypergeometric variates, by rejection.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"

namespace chainerx::native {

inline constexpr double kMaxRank = 9223372036854774784.0;  // largest int64 that is a double

// ---- Zipf ---------------------------------------------------------------------------------------

// L. Devroye, "Non-Uniform Random Variate Generation", 1986, section X.6.1: floors of Pareto
// variates, truncated to the range of int64.
class ZipfRejection {
 public:
    explicit ZipfRejection(double a)
        : exponent_{a - 1},
          least_{std::pow(kMaxRank, -exponent_)},
          rest_{std::expm1(exponent_ * std::log(2.0))} {}

    bool operator()(double u, double v, double* k) const {
        *k = std::floor(std::pow(least_ + (1 - least_) * (1 - u), -1 / exponent_));
        if (!(*k >= 1 && *k <= kMaxRank)) return false;
        const double t = std::expm1(exponent_ * std::log1p(1 / *k));
        return v * *k * t / rest_ <= (t + 1) / (rest_ + 1);
    }

 private:
    double exponent_;
    double least_;  // minimum of the uniform variate behind the Pareto variate
    double rest_;
};

// Above this exponent, all values but 1 have a probability below 2^-63 in total.
inline constexpr double kOnlyOne = 64;

inline int64_t DrawZipf(const philox::Stream& stream, int64_t element, double a, double u,
                        double v) {
    return a >= kOnlyOne ? 1 : Reject(stream, element, u, v, ZipfRejection{a});
}

// ---- hypergeometric -----------------------------------------------------------------------------

// Stirling's series; small factorials are exact. A negative number is invalid, but harmless.
inline double LogFactorial(double k) {
    constexpr double kHalfLogTwoPi = 0.918938533204672741780;
    constexpr double kFactorials[] = {
        1,     1,      2,       6,        24,         120,         720,           5040,
        40320, 362880, 3628800, 39916800, 4.790016e8, 6.2270208e9, 8.71782912e10, 1.307674368e12};
    if (k < 16) return std::log(kFactorials[k > 0 ? static_cast<int>(k) : 0]);
    const double r = 1 / (k * k);
    return (k + 0.5) * std::log(k) - k + kHalfLogTwoPi +
           (1.0 / 12 - r * (1.0 / 360 - r / 1260)) / k;
}

// Number of `few` among `sample` drawn from few + many. At most half are few, and at most half are
// drawn.
struct Urn {
    double few;
    double many;
    double sample;
};

inline int64_t HypergeometricBySum(const Urn& urn, double u) {
    double probability = 1;
    for (double i = 0; i < urn.sample; ++i) {
        probability *= (urn.many - i) / (urn.few + urn.many - i);
    }
    const double last = std::min(urn.few, urn.sample);
    double sum = probability;
    double k = 0;
    while (u >= sum && k < last) {
        probability *=
            (urn.few - k) * (urn.sample - k) / ((k + 1) * (urn.many - urn.sample + k + 1));
        ++k;
        sum += probability;
    }
    return static_cast<int64_t>(k);
}

// E. Stadlober, "The ratio of uniforms approach for generating discrete random variates", Journal
// of Computational and Applied Mathematics, 1990: HRUA.
class HypergeometricRejection {
 public:
    HypergeometricRejection() = default;
    explicit HypergeometricRejection(const Urn& urn) : urn_{urn} {
        const double all = urn.few + urn.many;
        const double p = urn.few / all;
        const double variance = (all - urn.sample) * urn.sample * p * (1 - p) / (all - 1);
        const double deviation = std::sqrt(variance + 0.5);
        center_ = urn.sample * p + 0.5;
        width_ = 2 * std::sqrt(2 / kE) * deviation + (3 - 2 * std::sqrt(3 / kE));
        mode_ = std::floor((urn.sample + 1) * (urn.few + 1) / (all + 2));
        at_mode_ = LogShare(mode_);
        end_ = std::min(std::min(urn.sample, urn.few) + 1, std::floor(center_ + 16 * deviation));
    }

    bool operator()(double u, double v, double* k) const {
        const double x = center_ + width_ * (v - 0.5) / u;
        if (!(x >= 0 && x < end_)) return false;
        *k = std::floor(x);
        constexpr double kNear = 32;
        if (std::abs(*k - mode_) <= kNear) return u * u <= RatioToMode(*k);
        return 2 * std::log(u) <= LogShare(*k) - at_mode_;
    }

 private:
    static constexpr double kE = 2.718281828459045235;

    // The ratio of two probabilities, step by step.
    double RatioToMode(double k) const {
        double ratio = 1;
        for (double i = std::min(k, mode_) + 1; i <= std::max(k, mode_); ++i) {
            const double up = (urn_.few - i + 1) * (urn_.sample - i + 1);
            const double down = i * (urn_.many - urn_.sample + i);
            ratio *= k > mode_ ? up / down : down / up;
        }
        return ratio;
    }
    // The logarithm of the probability, up to a constant.
    double LogShare(double k) const {
        return -LogFactorial(k) - LogFactorial(urn_.few - k) - LogFactorial(urn_.sample - k) -
               LogFactorial(urn_.many - urn_.sample + k);
    }

    Urn urn_;
    double center_;
    double width_;
    double mode_;
    double at_mode_;
    double end_;
};

// Reduces any parameters to those of Urn by symmetry.
class Hypergeometric {
 public:
    Hypergeometric(int64_t good, int64_t bad, int64_t sample)
        : good_{good},
          sample_{sample},
          drawn_{std::min(sample, good + bad - sample)},
          is_few_{good <= bad},
          urn_{static_cast<double>(std::min(good, bad)), static_cast<double>(std::max(good, bad)),
               static_cast<double>(drawn_)} {
        constexpr double kSummed = 10;
        by_sum_ = urn_.sample < kSummed;
        if (!by_sum_) rejection_ = HypergeometricRejection{urn_};
    }

    int64_t Draw(const philox::Stream& stream, int64_t element, double u, double v) const {
        const int64_t few =
            by_sum_ ? HypergeometricBySum(urn_, u) : Reject(stream, element, u, v, rejection_);
        const int64_t k = is_few_ ? few : drawn_ - few;  // good ones among the drawn
        return drawn_ == sample_ ? k : good_ - k;
    }

 private:
    int64_t good_;
    int64_t sample_;
    int64_t drawn_;
    bool is_few_;
    Urn urn_;
    bool by_sum_;
    HypergeometricRejection rejection_;  // if not by_sum_
};

}  // namespace chainerx::native
