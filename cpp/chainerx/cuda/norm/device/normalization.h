// What batch and row normalizations sum and write: see channels.h.
#pragma once

#include "chainerx/cuda/norm/device/channels.h"

namespace chainerx::cuda {

inline double Root(double x) { return ::sqrt(x); }

// A mean and a sum of squared distances from it.
struct Moments {
    double count;
    double mean;
    double square;
};
inline void JoinMoments(Moments& a, const Moments& b) {
    if (b.count == 0) return;
    if (a.count == 0) {
        a = b;
        return;
    }
    const double total = a.count + b.count;
    const double delta = b.mean - a.mean;
    const double part = b.count / total;
    a.mean += delta * part;
    a.square += b.square + delta * delta * a.count * part;
    a.count = total;
}

template <typename T, bool kCentered>
struct MomentsOf {
    using C = Number<T>;
    using State = Moments;
    static State Zero() { return {0, 0, 0}; }
    static void Join(State& a, const State& b) { JoinMoments(a, b); }
    static void JoinColumns(State& a, const State& b) {
        if (a.count == 0) {
            a = b;
            return;
        }
        const double part = b.count / (a.count + b.count);
        const double delta = b.mean - a.mean;
        a.mean = Fma(delta, part, a.mean);
        a.square = a.square + b.square + delta * delta * (part * a.count);
        a.count += b.count;
    }

    static C Load(const NormParams& p, int64_t at) { return static_cast<C>(*At<const T>(p.x, at)); }
    // Sums of distances from an estimate of the mean; from a better one, if digits are lost.
    template <int kLanes>
    static State SumUnit(const NormParams& p, const Unit& unit, int lane) {
        constexpr bool kColumns = kLanes == 1;
        constexpr double kBadGuess = 4;
        const auto count = static_cast<double>(unit.runs * unit.length);
        const double one_of_count = 1 / count;
        C center = C(0);
        if (kCentered && unit.runs > 0) center = Guess<kColumns>(p, unit);
        C sum;
        C square;
        const auto add_up = [&] {
            sum = square = C(0);
            ForElements<kLanes>(unit, lane, [&](int64_t at) {
                const C d = Load(p, at) - center;
                sum += d;
                square = Fma(d, d, square);
            });
            sum = SumOfLanes<kLanes>(sum);
            square = SumOfLanes<kLanes>(square);
        };
        add_up();
        if constexpr (!kCentered) return {count, 0, static_cast<double>(square)};
        bool is_bad;
        if constexpr (kColumns) {
            const C of_guess = sum * sum * static_cast<C>(one_of_count);
            is_bad = of_guess > (square - of_guess) * static_cast<C>(kBadGuess);
            if (is_bad) center += sum * static_cast<C>(one_of_count);
        } else {
            const double off = static_cast<double>(sum) * one_of_count;
            const double of_guess = off * off * count;
            is_bad = of_guess > kBadGuess * (static_cast<double>(square) - of_guess);
            if (is_bad) center += static_cast<C>(off);
        }
        // The lanes of a warp stay together; good estimates are summed to the same again.
        if (__any_sync(0xffffffffu, is_bad)) add_up();
        const double off = static_cast<double>(sum) * one_of_count;
        const double squares = static_cast<double>(square) - off * off * count;
        return {count, static_cast<double>(center) + off, squares < 0 ? 0 : squares};
    }

 private:
    // The mean of a few elements of the whole unit, since the first may be padding.
    template <bool kColumns>
    static C Guess(const NormParams& p, const Unit& unit) {
        const auto mean = [&](int64_t a, int64_t b, int64_t c, int64_t d) {
            return ((Load(p, a) + Load(p, b)) + (Load(p, c) + Load(p, d))) * C(0.25);
        };
        if constexpr (kColumns) {
            const auto row = [&](int64_t r) {
                return unit.at + (r < unit.runs ? r : 0) * unit.step;
            };
            return mean(row(0), row(1), row(2), row(3));
        }
        const int64_t last = unit.at + (unit.runs - 1) * unit.step;
        return mean(unit.at, unit.at + unit.length / 3, last + unit.length / 2,
                    last + unit.length - 1);
    }
};

// y = (x - center) * scale + shift
template <typename C>
struct Affine {
    C center;
    C scale;
    C shift;
};
// The exact mean has more bits than T; the shift includes its rounding error.
template <typename C>
inline Affine<C> MakeAffine(double mean, double scale, double beta) {
    const auto center = static_cast<C>(mean);
    return {center, static_cast<C>(scale),
            static_cast<C>(beta - (mean - static_cast<double>(center)) * scale)};
}
template <typename T>
struct WriteAffine {
    using C = Number<T>;
    using Param = Affine<C>;
    static void Write(const NormParams& p, const Param& of, int64_t /*channel*/, int64_t at) {
        const C x = static_cast<C>(*At<const T>(p.x, at));
        *At<T>(p.y, at) = static_cast<T>(Fma(x - of.center, of.scale, of.shift));
    }
};

template <typename R>
inline void UpdateRunningOf(const NormParams& p, int k, int64_t channel, double statistic) {
    R& value =
        *reinterpret_cast<R*>(static_cast<char*>(p.running[k]) + channel * p.running_strides[k]);
    const auto old = static_cast<double>(static_cast<Number<R>>(value));
    value = static_cast<R>(p.decay * old + (1 - p.decay) * statistic);
}
inline void UpdateRunning(const NormParams& p, int k, int64_t channel, double statistic) {
    switch (p.running_dtypes[k]) {
        case 1:
            return UpdateRunningOf<Float16>(p, k, channel, statistic);
        case 2:
            return UpdateRunningOf<BFloat16>(p, k, channel, statistic);
        case 3:
            return UpdateRunningOf<float>(p, k, channel, statistic);
        case 4:
            return UpdateRunningOf<double>(p, k, channel, statistic);
        default:
            return;
    }
}

template <typename T>
struct BatchNorm : MomentsOf<T, true>, WriteAffine<T> {
    using C = Number<T>;
    static Affine<C> Finish(const NormParams& p, int64_t channel, const Moments& of) {
        const double var = of.square / of.count;
        const double r = 1 / Root(var + p.eps);
        *At<C>(p.mean, channel) = static_cast<C>(of.mean);
        *At<C>(p.inv_std, channel) = static_cast<C>(r);
        UpdateRunning(p, 0, channel, of.mean);
        UpdateRunning(p, 1, channel, var * (of.count / (of.count > 2 ? of.count - 1 : 1.0)));
        return MakeAffine<C>(of.mean, static_cast<double>(*At<const C>(p.gamma, channel)) * r,
                             static_cast<double>(*At<const C>(p.beta, channel)));
    }
};

// Nothing is summed.
template <typename T>
struct FixedBatchNorm : WriteAffine<T> {
    using C = Number<T>;
    static Affine<C> Finish(const NormParams& p, int64_t channel) {
        const double r = 1 / Root(static_cast<double>(*At<const C>(p.inv_std, channel)) + p.eps);
        return MakeAffine<C>(static_cast<double>(*At<const C>(p.mean, channel)),
                             static_cast<double>(*At<const C>(p.gamma, channel)) * r,
                             static_cast<double>(*At<const C>(p.beta, channel)));
    }
};
template <typename T>
inline void NormFixed(const NormParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n * p.c * p.s) return;
    const int64_t channel = Quotient(i, p.s) % p.c;
    FixedBatchNorm<T>::Write(p, FixedBatchNorm<T>::Finish(p, channel), channel, i);
}

// Sums of d = x - mean, g and g * d.
struct Dots {
    double d;
    double g;
    double gd;
};
// Op::Add(p, channel, place, sums) adds those of an element.
template <typename Op, typename C>
struct SumDots {
    using State = Dots;
    static State Zero() { return {0, 0, 0}; }
    static void Join(State& a, const State& b) {
        a.d += b.d;
        a.g += b.g;
        a.gd += b.gd;
    }
    static void JoinColumns(State& a, const State& b) { Join(a, b); }
    template <int kLanes>
    static State SumUnit(const NormParams& p, const Unit& unit, int lane) {
        C sums[3] = {};
        ForElements<kLanes>(unit, lane, [&](int64_t at) { Op::Add(p, unit.channel, at, sums); });
#pragma unroll
        for (C& sum : sums) sum = SumOfLanes<kLanes>(sum);
        return {static_cast<double>(sums[0]), static_cast<double>(sums[1]),
                static_cast<double>(sums[2])};
    }
};

// y = (x - center) * of_x + g * of_g + shift
template <typename C>
struct Affine2 {
    C center;
    C of_x;
    C of_g;
    C shift;
};

template <typename T>
struct BatchNormGrad : SumDots<BatchNormGrad<T>, Number<T>> {
    using C = Number<T>;
    using Param = Affine2<C>;
    static void Add(const NormParams& p, int64_t channel, int64_t at, C* sums) {
        const C d = static_cast<C>(*At<const T>(p.x, at)) - *At<const C>(p.mean, channel);
        const C g = static_cast<C>(*At<const T>(p.gy, at));
        sums[0] += d;
        sums[1] += g;
        sums[2] = Fma(g, d, sums[2]);
    }
    static Param Finish(const NormParams& p, int64_t channel, const Dots& of) {
        const auto count = static_cast<double>(p.n * p.s);
        const C mean = *At<const C>(p.mean, channel);
        const auto r = static_cast<double>(*At<const C>(p.inv_std, channel));
        const double rest = of.d / count;  // rounding error of the mean
        const double product = of.gd - rest * of.g;
        *At<C>(p.ggamma, channel) = static_cast<C>(product * r);
        *At<C>(p.gbeta, channel) = static_cast<C>(of.g);
        const double of_g = static_cast<double>(*At<const C>(p.gamma, channel)) * r;
        const double of_x = -of_g * r * r * product / count;
        return {mean, static_cast<C>(of_x), static_cast<C>(of_g),
                static_cast<C>(-of_g * of.g / count - of_x * rest)};
    }
    static void Write(const NormParams& p, const Param& of, int64_t /*channel*/, int64_t at) {
        const C d = static_cast<C>(*At<const T>(p.x, at)) - of.center;
        const C g = static_cast<C>(*At<const T>(p.gy, at));
        *At<T>(p.y, at) = static_cast<T>(Fma(d, of.of_x, Fma(g, of.of_g, of.shift)));
    }
};

// Rows: channels of an array (1, rows, length).
inline int64_t GammaOf(const NormParams& p, int64_t row, int64_t at) {
    return row % p.groups * p.stretches + Quotient(at - row * p.s, p.stretch);
}

template <typename T, bool kCentered>
struct RowNorm : MomentsOf<T, kCentered> {
    using C = Number<T>;
    struct Param {
        C center;
        double rest;  // rounding error of the center
        double r;
    };
    static Param Finish(const NormParams& p, int64_t row, const Moments& of) {
        const double r = 1 / Root(of.square / static_cast<double>(p.s) + p.eps);
        const C center = static_cast<C>(of.mean);
        *At<C>(p.mean, row) = center;
        *At<C>(p.inv_std, row) = static_cast<C>(r);
        return {center, of.mean - static_cast<double>(center), r};
    }
    // Long stretches have a function of their own, which saves an operation.
    static void Write(const NormParams& p, const Param& of, int64_t row, int64_t at) {
        const int64_t k = GammaOf(p, row, at);
        const C gamma = *At<const C>(p.gamma, k);
        const C beta = *At<const C>(p.beta, k);
        const C d = static_cast<C>(*At<const T>(p.x, at)) - of.center;
        C y;
        if (p.stretch < native::kNormLongRun) {
            y = Fma(Fma(d, static_cast<C>(of.r), static_cast<C>(-of.rest * of.r)), gamma, beta);
        } else {
            const double scale = static_cast<double>(gamma) * of.r;
            y = Fma(d, static_cast<C>(scale),
                    static_cast<C>(static_cast<double>(beta) - of.rest * scale));
        }
        *At<T>(p.y, at) = static_cast<T>(y);
    }
};

// The part of a row's gradient that gx needs: sums of d, h = g * gamma and h * d.
template <typename T, bool kCentered>
struct RowNormGrad : SumDots<RowNormGrad<T, kCentered>, Number<T>> {
    using C = Number<T>;
    struct Param {
        C center;
        C r;
        C of_x;
        C shift;
    };
    static void Add(const NormParams& p, int64_t row, int64_t at, C* sums) {
        const C d = static_cast<C>(*At<const T>(p.x, at)) - *At<const C>(p.mean, row);
        const C h =
            static_cast<C>(*At<const T>(p.gy, at)) * *At<const C>(p.gamma, GammaOf(p, row, at));
        sums[0] += d;
        sums[1] += h;
        sums[2] = Fma(h, d, sums[2]);
    }
    static Param Finish(const NormParams& p, int64_t row, const Dots& of) {
        const auto r = static_cast<double>(*At<const C>(p.inv_std, row));
        const double one_of_count = 1 / static_cast<double>(p.s);
        const double rest = kCentered ? of.d * one_of_count : 0;  // rounding error of the mean
        const double product = (of.gd - rest * of.g) * r * one_of_count;
        const double of_x = -r * product * r;
        const double shift = kCentered ? -r * of.g * one_of_count : 0;
        const C center = *At<const C>(p.mean, row);
        *At<Affine<C>>(p.of_rows, row) = {center, static_cast<C>(r), static_cast<C>(-rest * r)};
        return {center, static_cast<C>(r), static_cast<C>(of_x),
                static_cast<C>(shift - of_x * rest)};
    }
    static void Write(const NormParams& p, const Param& of, int64_t row, int64_t at) {
        const C d = static_cast<C>(*At<const T>(p.x, at)) - of.center;
        const C h =
            static_cast<C>(*At<const T>(p.gy, at)) * *At<const C>(p.gamma, GammaOf(p, row, at));
        *At<T>(p.y, at) = static_cast<T>(Fma(h, of.r, Fma(d, of.of_x, of.shift)));
    }
};

// The gradients of gamma and beta: channels of (n, groups * stretches, stretch).
template <typename T>
struct RowNormGradGamma : SumDots<RowNormGradGamma<T>, Number<T>> {
    using C = Number<T>;
    struct Param {};
    static void Add(const NormParams& p, int64_t channel, int64_t at, C* sums) {
        const int64_t row = Quotient(at, p.c * p.s) * p.groups + Quotient(channel, p.stretches);
        const Affine<C> of = *At<const Affine<C>>(p.of_rows, row);
        const C g = static_cast<C>(*At<const T>(p.gy, at));
        const C x = static_cast<C>(*At<const T>(p.x, at));
        sums[1] += g;
        sums[2] = Fma(g, Fma(x - of.center, of.scale, of.shift), sums[2]);
    }
    static Param Finish(const NormParams& p, int64_t channel, const Dots& of) {
        *At<C>(p.ggamma, channel) = static_cast<C>(of.gd);
        *At<C>(p.gbeta, channel) = static_cast<C>(of.g);
        return {};
    }
    static void Write(const NormParams&, const Param&, int64_t, int64_t) {}
};

}  // namespace chainerx::cuda
