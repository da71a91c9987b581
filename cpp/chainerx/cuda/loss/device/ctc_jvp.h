// The JVP of CTC's gradient: its recursion in dual numbers, of float64.
#pragma once

#include "chainerx/cuda/loss/device/ctc.h"

namespace chainerx::cuda {

// A dual number: a value and its tangent. The tangent of log(0) is 0.
struct Dual {
    double value{CtcScores<double>::None()};
    double change{0};

    bool IsNone() const { return value == CtcScores<double>::None(); }
    double ChangeOfExp() const { return std::exp(value) * change; }
    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.change + b.change}; }
    friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.change - b.change}; }
};

// logsumexp of what at(i) gives for i < n, by a warp, or by each thread for its own.
template <typename G, typename F>
inline Dual SumOfExp(int64_t n, const F& at) {
    double max = CtcScores<double>::None();
    for (int64_t i = G::Lane(); i < n; i += G::kLanes) {
        const Dual x = at(i);
        max = x.value > max ? x.value : max;
    }
    max = G::MaxOf(max);
    double sum = 0;
    double weighted = 0;
    for (int64_t i = G::Lane(); i < n; i += G::kLanes) {
        const Dual x = at(i);
        if (x.IsNone()) continue;
        const double e = std::exp(x.value - max);
        sum += e;
        weighted += e * x.change;
    }
    sum = G::SumOf(sum);
    weighted = G::SumOf(weighted);
    return sum == 0 ? Dual{} : Dual{max + std::log(sum), weighted / sum};
}
struct ByWarp {
    static constexpr int kLanes = 32;
    static int Lane() { return CtcWarp::Lane(); }
    static double MaxOf(double x) { return CtcWarp::Max(x); }
    static double SumOf(double x) { return CtcWarp::Sum(x); }
};
struct ByThread {
    static constexpr int kLanes = 1;
    static int Lane() { return 0; }
    static double MaxOf(double x) { return x; }
    static double SumOf(double x) { return x; }
};

// Scores and their tangents, before normalization.
template <typename T>
inline Dual RawScore(const CtcParams& p, int64_t i, int64_t k) {
    const int64_t at = i * p.classes + k;
    return {static_cast<double>(static_cast<Number<T>>(*At<const T>(p.x, at))),
            static_cast<double>(static_cast<Number<T>>(*At<const T>(p.v, at)))};
}
template <typename T>
inline Dual Score(const CtcPath& path, int64_t t, int64_t k) {
    return RawScore<T>(path.p, path.Step(t), k) - *At<const Dual>(path.p.stats, path.Step(t));
}

template <typename T>
inline void CtcDualStats(const CtcParams& p) {
    const int64_t i = CtcWarp::Row();
    if (i >= p.steps * p.rows) return;
    const Dual y = SumOfExp<ByWarp>(p.classes, [&](int64_t k) { return RawScore<T>(p, i, k); });
    if (CtcWarp::Lane() == 0) *const_cast<Dual*>(At<const Dual>(p.stats, i)) = y;
}

// The weights of all paths to (or from) the states of each step, with the emission of the step.
template <typename T>
inline void CtcDualWeights(const CtcParams& p) {
    const int64_t row = blockIdx.x / 2;
    const bool is_forward = blockIdx.x % 2 == 0;
    const int64_t steps = CheckRow(p, row, is_forward);
    if (is_forward && threadIdx.x == 0) p.valid[row] = steps;
    if (steps < 0) return;
    const CtcPath path{p, row, steps};
    const auto weights = [&](int64_t t) {
        return At<Dual>(p.weights[is_forward ? 0 : 1], path.Place(t));
    };
    const int64_t last = path.size - 1;
    const int back = is_forward ? -1 : 1;
    for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = is_forward ? i : steps - 1 - i;
        for (int64_t j = threadIdx.x; j <= last; j += kBlockThreads) {
            const int64_t s = is_forward ? j : last - j;
            const Dual emission = Score<T>(path, t, path.ClassOf(s));
            Dual y;
            if (i == 0) {
                if (j < 2) y = emission;
            } else {
                const Dual* const before = weights(t + back);
                const bool skips = j >= 2 && path.MaySkip(is_forward ? s : s + 2);
                y = SumOfExp<ByThread>(3,
                                       [&](int64_t k) {
                                           return k <= j && (k < 2 || skips) ? before[s + k * back]
                                                                             : Dual{};
                                       }) +
                    emission;
            }
            weights(t)[s] = y;
        }
        __syncthreads();
    }
    if (is_forward) LinkStates(path);
}

template <typename T>
struct ChangeTerms {
    const CtcPath& path;
    int64_t t;
    Number<T> gy;
    Dual sum;

    ChangeTerms(const CtcPath& of, int64_t step, Number<T> g)
        : path{of},
          t{step},
          gy{g},
          sum{SumOfExp<ByWarp>(of.size, [this](int64_t s) { return Joined(s); })} {}
    Dual Joined(int64_t s) const {
        const Dual emission = Score<T>(path, t, path.ClassOf(s));
        if (emission.IsNone()) return {};
        const int64_t at = path.Place(t) + s;
        return *At<Dual>(path.p.weights[0], at) + (*At<Dual>(path.p.weights[1], at) - emission);
    }
    double Begin(int64_t k) const { return Score<T>(path, t, k).ChangeOfExp(); }
    double OfState(int64_t s) const {
        const Dual of = Joined(s);
        return of.IsNone() ? 0 : (of - sum).ChangeOfExp();
    }
    Number<T> End(double y) const { return static_cast<Number<T>>(static_cast<double>(gy) * y); }
};
template <typename T>
inline void CtcGradAlong(const CtcParams& p) {
    CtcOutputs<T, ChangeTerms<T>>(p);
}

}  // namespace chainerx::cuda
