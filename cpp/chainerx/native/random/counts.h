// Poisson and binomial variates: by inversion (cumulative sums) for small means, otherwise by W.
// Hörmann's transformed rejection, whose attempts take two numbers each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"

namespace chainerx::native {

inline constexpr double kSmallMean = 10;
inline constexpr double kNoProbability = 1e-20;  // smaller probabilities no longer change the sum
inline constexpr double kHalfLogTwoPi = 0.918938533204672741780;

// log(k!) for k = 0 to 9. Others are invalid, but harmless: devices report them only afterwards.
inline double LogSmallFactorial(double k) {
    constexpr double kLogs[] = {0,
                                0,
                                0.69314718055994529,
                                1.791759469228055,
                                3.1780538303479458,
                                4.7874917427820458,
                                6.5792512120101012,
                                8.5251613610654129,
                                10.604602902745251,
                                12.801827480081471};
    return kLogs[k > 0 ? static_cast<int>(k) : 0];
}

// log(mean^k exp(-mean) / k!), without cancellation of large terms.
inline double LogPoisson(double k, double mean) {
    if (k < 10) return k * std::log(mean) - mean - LogSmallFactorial(k);
    const double x = (k - mean) / mean;
    const double depth =
        std::abs(x) < 0.01
            ? x * x * (1.0 / 2 - x * (1.0 / 6 - x * (1.0 / 12 - x * (1.0 / 20 - x / 30))))
            : (1 + x) * std::log1p(x) - x;
    const double rest = (1.0 / 12 - 1.0 / 360 / (k * k)) / k;
    return -mean * depth - 0.5 * std::log(k) - kHalfLogTwoPi - rest;
}

// ---- Poisson ------------------------------------------------------------------------------------

// Cumulative sums of probabilities, computed on demand.
class PoissonSum {
 public:
    explicit PoissonSum(double mean) : mean_{mean}, p_{std::exp(-mean)}, sum_{p_} {}

    int64_t k() const { return k_; }
    double sum() const { return sum_; }
    bool Next() {
        if (p_<kNoProbability&& static_cast<double>(k_)> mean_) return false;
        p_ *= mean_ / static_cast<double>(++k_);
        sum_ += p_;
        return true;
    }

 private:
    double mean_;
    int64_t k_{0};
    double p_;
    double sum_;
};

inline int64_t PoissonBySum(double mean, double u) {
    PoissonSum sum{mean};
    while (u >= sum.sum() && sum.Next()) continue;
    return sum.k();
}

// "The transformed rejection method for generating Poisson random variables", Insurance:
// Mathematics and Economics, 1993: PTRS.
class PoissonRejection {
 public:
    explicit PoissonRejection(double mean)
        : mean_{mean},
          b_{0.931 + 2.53 * std::sqrt(mean)},
          a_{-0.059 + 0.02483 * b_},
          inverse_alpha_{1.1239 + 1.1328 / (b_ - 3.4)},
          v_r_{0.9277 - 3.6224 / (b_ - 2)} {}

    bool operator()(double u, double v, double* k) const {
        u -= 0.5;
        const double u_s = 0.5 - std::abs(u);
        *k = std::floor((2 * a_ / u_s + b_) * u + mean_ + 0.43);
        if (u_s >= 0.07 && v <= v_r_) return true;
        if (!(*k >= 0) || (u_s < 0.013 && v > u_s)) return false;
        return std::log(v * inverse_alpha_ / (a_ / (u_s * u_s) + b_)) <= LogPoisson(*k, mean_);
    }

 private:
    double mean_;
    double b_;
    double a_;
    double inverse_alpha_;
    double v_r_;
};

inline int64_t DrawPoisson(const philox::Stream& stream, int64_t element, double mean, double u,
                           double v) {
    return mean < kSmallMean ? PoissonBySum(mean, u)
                             : Reject(stream, element, u, v, PoissonRejection{mean});
}

// ---- binomial -----------------------------------------------------------------------------------

// "The generation of binomial random variates", Journal of Statistical Computation and Simulation,
// 1993: BTRS. For p <= 1/2.
class BinomialRejection {
 public:
    BinomialRejection(double n, double p) : n_{n}, mean_{n * p} {
        const double deviation = std::sqrt(n * p * (1 - p));
        b_ = 1.15 + 2.53 * deviation;
        a_ = -0.0873 + 0.0248 * b_ + 0.01 * p;
        center_ = mean_ + 0.5;
        v_r_ = 0.92 - 4.2 / b_;
        alpha_ = (2.83 + 5.1 / b_) * deviation;
        at_mode_ = LogProbability(std::floor((n + 1) * p));
    }

    bool operator()(double u, double v, double* k) const {
        u -= 0.5;
        const double u_s = 0.5 - std::abs(u);
        *k = std::floor((2 * a_ / u_s + b_) * u + center_);
        if (!(*k >= 0 && *k <= n_)) return false;
        if (u_s >= 0.07 && v <= v_r_) return true;
        return std::log(v * alpha_ / (a_ / (u_s * u_s) + b_)) <= LogProbability(*k) - at_mode_;
    }

 private:
    // As two Poisson variates conditioned on their sum n.
    double LogProbability(double k) const {
        return LogPoisson(k, mean_) + LogPoisson(n_ - k, n_ - mean_);
    }

    double n_;
    double mean_;
    double b_;
    double a_;
    double center_;
    double v_r_;
    double alpha_;
    double at_mode_;
};

inline int64_t BinomialBySum(double n, double p, double u) {
    const double ratio = p / (1 - p);
    double probability = std::exp(n * std::log1p(-p));
    double sum = probability;
    double k = 0;
    while (u >= sum && k < n && !(probability < kNoProbability && k > n * p)) {
        probability *= ratio * (n - k) / (k + 1);
        ++k;
        sum += probability;
    }
    return static_cast<int64_t>(k);
}

inline int64_t DrawBinomial(const philox::Stream& stream, int64_t element, int64_t n, double p,
                            double u, double v) {
    const bool turned = p > 0.5;
    const double q = turned ? 1 - p : p;
    const auto m = static_cast<double>(n);
    const int64_t k = m * q < kSmallMean ? BinomialBySum(m, q, u)
                                         : Reject(stream, element, u, v, BinomialRejection{m, q});
    return turned ? n - std::min(k, n) : std::min(k, n);
}

}  // namespace chainerx::native
