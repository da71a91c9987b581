// What batch and row normalizations sum and write. Sums are in double; a few elements are summed
// in T before, as distances from their own mean.
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
    static void Join(State& a, const State& b) {
        if constexpr (kCentered) {
            JoinMoments(a, b);
        } else {
            a.square += b.square;
        }
    }
    static void AddBatch(const NormParams& p, State& state, int64_t /*channel*/,
                         const Elements& elements) {
        C v[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u) v[u] = static_cast<C>(*At<const T>(p.x, elements.at[u]));
        const auto count = static_cast<double>(elements.count);
        C center = C(0);
        if constexpr (kCentered) {
            C sum = C(0);
#pragma unroll
            for (int u = 0; u < kBatch; ++u) sum += u < elements.count ? v[u] : C(0);
            center = sum / static_cast<C>(elements.count);
        }
        C off = C(0);
        C square = C(0);
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
            const C d = u < elements.count ? v[u] - center : C(0);
            off += d;
            square = Fma(d, d, square);
        }
        if constexpr (kCentered) {
            const double rest = static_cast<double>(off) / count;
            const double squares = static_cast<double>(square) - rest * rest * count;
            Join(state, {count, static_cast<double>(center) + rest, squares < 0 ? 0 : squares});
        } else {
            state.square += static_cast<double>(square);
        }
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

// Nothing is summed: the host launches NormFinish and NormWrite alone.
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
template <typename T, int kLanes, bool kColumns>
inline void NormFixed(const NormParams& p) {
    using Op = FixedBatchNorm<T>;
    using Param = typename Op::Param;
    const Tile<kLanes, kColumns> tile{p};
    constexpr int kChannels = Tile<kLanes, kColumns>::kChannels;
    CX_SHARED(Param, params, kChannels);
    if (tile.lane == 0 && tile.channel < p.c) params[tile.own] = Op::Finish(p, tile.channel);
    __syncthreads();
    if (tile.channel < p.c) WriteTile<Op>(p, tile, params[tile.own]);
}

// Sums of d = x - mean, g and g * d.
struct Dots {
    double d;
    double g;
    double gd;
};
struct SumDots {
    using State = Dots;
    static State Zero() { return {0, 0, 0}; }
    static void Join(State& a, const State& b) {
        a.d += b.d;
        a.g += b.g;
        a.gd += b.gd;
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
struct BatchNormGrad : SumDots {
    using C = Number<T>;
    using Param = Affine2<C>;
    static void AddBatch(const NormParams& p, Dots& state, int64_t channel,
                         const Elements& elements) {
        const C center = *At<const C>(p.mean, channel);
        C sums[3] = {};
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
            if (u >= elements.count) break;
            const C d = static_cast<C>(*At<const T>(p.x, elements.at[u])) - center;
            const C g = static_cast<C>(*At<const T>(p.gy, elements.at[u]));
            sums[0] += d;
            sums[1] += g;
            sums[2] = Fma(g, d, sums[2]);
        }
        Join(state, {static_cast<double>(sums[0]), static_cast<double>(sums[1]),
                     static_cast<double>(sums[2])});
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
    using Param = Affine<C>;
    static Param Finish(const NormParams& p, int64_t row, const Moments& of) {
        const double r = 1 / Root(of.square / static_cast<double>(p.s) + p.eps);
        *At<C>(p.mean, row) = static_cast<C>(of.mean);
        *At<C>(p.inv_std, row) = static_cast<C>(r);
        return MakeAffine<C>(of.mean, r, 0);
    }
    static void Write(const NormParams& p, const Param& of, int64_t row, int64_t at) {
        const int64_t k = GammaOf(p, row, at);
        const C x = static_cast<C>(*At<const T>(p.x, at));
        *At<T>(p.y, at) = static_cast<T>(Fma(Fma(x - of.center, of.scale, of.shift),
                                             *At<const C>(p.gamma, k), *At<const C>(p.beta, k)));
    }
};

// The part of a row's gradient that gx needs: sums of d, h = g * gamma and h * d.
template <typename T, bool kCentered>
struct RowNormGrad : SumDots {
    using C = Number<T>;
    struct Param {
        C center;
        C r;
        C of_x;
        C shift;
    };
    static void AddBatch(const NormParams& p, Dots& state, int64_t row, const Elements& elements) {
        const C center = *At<const C>(p.mean, row);
        C sums[3] = {};
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
            if (u >= elements.count) break;
            const int64_t at = elements.at[u];
            const C d = static_cast<C>(*At<const T>(p.x, at)) - center;
            const C h =
                static_cast<C>(*At<const T>(p.gy, at)) * *At<const C>(p.gamma, GammaOf(p, row, at));
            sums[0] += d;
            sums[1] += h;
            sums[2] = Fma(h, d, sums[2]);
        }
        Join(state, {static_cast<double>(sums[0]), static_cast<double>(sums[1]),
                     static_cast<double>(sums[2])});
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
struct RowNormGradGamma : SumDots {
    using C = Number<T>;
    struct Param {};
    static void AddBatch(const NormParams& p, Dots& state, int64_t channel,
                         const Elements& elements) {
        C sums[2] = {};
        const int64_t group = Quotient(channel, p.stretches);
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
            if (u >= elements.count) break;
            const int64_t at = elements.at[u];
            const int64_t image = Quotient(at, p.c * p.s);
            const Affine<C> of = *At<const Affine<C>>(p.of_rows, image * p.groups + group);
            const C g = static_cast<C>(*At<const T>(p.gy, at));
            const C x = static_cast<C>(*At<const T>(p.x, at));
            sums[0] += g;
            sums[1] = Fma(g, Fma(x - of.center, of.scale, of.shift), sums[1]);
        }
        Join(state, {0, static_cast<double>(sums[0]), static_cast<double>(sums[1])});
    }
    static Param Finish(const NormParams& p, int64_t channel, const Dots& of) {
        *At<C>(p.ggamma, channel) = static_cast<C>(of.gd);
        *At<C>(p.gbeta, channel) = static_cast<C>(of.g);
        return {};
    }
    static void Write(const NormParams&, const Param&, int64_t, int64_t) {}
};

}  // namespace chainerx::cuda
