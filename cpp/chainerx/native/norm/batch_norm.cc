// Batch normalization: normalizes channels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "chainerx/kernels/norm/normalization.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/norm/channels.h"
#include "chainerx/native/norm/normalization_common.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

ChannelShape ShapeOf(const Array& x) { return {x.shape()[0], x.shape()[1], x.shape()[2]}; }

// The parameters of y = (x - mean) * scale + beta. The exact mean has more bits than T; the shift
// includes its rounding error.
template <typename T>
void SetAffine(double mean, double scale, double beta, T* params, int64_t step) {
    const T center = static_cast<T>(mean);
    params[0] = center;
    params[step] = static_cast<T>(scale);
    params[2 * step] = static_cast<T>(beta - (mean - static_cast<double>(center)) * scale);
}

template <typename T>
struct Writer {
    static constexpr int kParams = 3;

    const NormalizationLoops<T>& loops;
    const T* x;
    T* y;

    bool writes() const { return true; }
    void Map(int64_t offset, int64_t runs, int64_t stride, int64_t n, const T* params,
             int64_t param_step) const {
        loops.affine(x + offset, runs, stride, n, params, param_step, y + offset);
    }
    void MapColumns(int64_t offset, int64_t rows, int64_t stride, int64_t width, const T* params,
                    int64_t plane) const {
        loops.column_affine(x + offset, rows, stride, width, params, plane, y + offset);
    }
};

template <typename T>
struct Forward : Writer<T> {
    static constexpr int kSums = 2;

    const T* gamma;
    const T* beta;
    double eps;
    double count;
    T* mean;
    T* inv_std;
    double* statistics;  // mean and variance of each channel, or null

    const T* Centers() const { return nullptr; }
    void Reduce(int64_t offset, int64_t runs, int64_t stride, int64_t n, int64_t,
                double* sums) const {
        this->loops.moments(this->x + offset, runs, stride, n, true, sums);
    }
    void ReduceColumns(int64_t offset, int64_t rows, int64_t stride, int64_t width, const T*,
                       double* sums, int64_t plane) const {
        this->loops.column_moments(this->x + offset, rows, stride, width, sums, plane);
    }
    static void Join(double* sums, int64_t step, int64_t count, const double* more,
                     int64_t more_step, int64_t more_count) {
        JoinMoments(&sums[0], &sums[step], count, more[0], more[more_step], more_count);
    }
    void Finish(int64_t c, const double* sums, T* params, int64_t step) const {
        const double var = sums[1] / count;
        const double r = 1 / std::sqrt(var + eps);
        mean[c] = static_cast<T>(sums[0]);
        inv_std[c] = static_cast<T>(r);
        if (statistics != nullptr) {
            statistics[2 * c] = sums[0];
            statistics[2 * c + 1] = var;
        }
        SetAffine(sums[0], static_cast<double>(gamma[c]) * r, static_cast<double>(beta[c]), params,
                  step);
    }
};

void UpdateRunning(const Array& running, const double* statistics, double decay, double factor) {
    VisitFloat(running.dtype(), [&]<typename T>() {
        char* p = running.raw_data();
        for (int64_t i = 0; i < running.shape()[0]; ++i, p += running.strides()[0]) {
            T& value = *reinterpret_cast<T*>(p);
            value =
                Cast<T>(decay * Cast<double>(value) + (1 - decay) * (statistics[2 * i] * factor));
        }
    });
}

// `statistics` may be null.
void Normalize(const Array& x, const Array& gamma, const Array& beta, double eps, const Array& y,
               const Array& mean, const Array& inv_std, double* statistics) {
    if (RunUpcast(y, [&](const Array& wide) {
            Normalize(ToFloat32(x), gamma, beta, eps, wide, mean, inv_std, statistics);
        })) {
        return;
    }
    VisitUpcast(
        normalization_loops(), x.dtype(), [&]<typename T>(const NormalizationLoops<T>& loops) {
            const ChannelShape shape = ShapeOf(x);
            Forward<T> op{
                {loops, Data<T>(x), Data<T>(y)},    Data<T>(gamma), Data<T>(beta),    eps,
                static_cast<double>(shape.count()), Data<T>(mean),  Data<T>(inv_std), statistics};
            ChannelRun<T, Forward<T>>{shape, op}.Run();
        });
}

// Running statistics are written last, when no more errors can occur.
void BatchNorm(const Array& x, const Array& gamma, const Array& beta, double eps, double decay,
               const Array& running_mean, const Array& running_var, const Array& y,
               const Array& mean, const Array& inv_std) {
    const ChannelShape shape = ShapeOf(x);
    const bool keeps = running_mean.GetTotalSize() != 0 || running_var.GetTotalSize() != 0;
    const std::unique_ptr<double[]> statistics{keeps ? new double[static_cast<size_t>(2 * shape.c)]
                                                     : nullptr};
    Normalize(x, gamma, beta, eps, y, mean, inv_std, statistics.get());
    if (running_mean.GetTotalSize() != 0) UpdateRunning(running_mean, &statistics[0], decay, 1);
    if (running_var.GetTotalSize() != 0) {
        const auto count = static_cast<double>(shape.count());
        UpdateRunning(running_var, &statistics[1], decay, count / std::max(count - 1, 1.0));
    }
}
CX_NATIVE_KERNEL(BatchNorm)

template <typename T>
struct Backward {
    static constexpr int kSums = 3;  // of d = x - mean, g, g * d
    static constexpr int kParams = 4;

    const NormalizationLoops<T>& loops;
    const T* x;
    const T* g;
    const T* gamma;
    const T* mean;
    const T* inv_std;
    double count;
    T* gx;  // null if not requested
    T* ggamma;
    T* gbeta;

    bool writes() const { return gx != nullptr; }
    const T* Centers() const { return mean; }
    void Reduce(int64_t offset, int64_t runs, int64_t stride, int64_t n, int64_t c,
                double* sums) const {
        sums[0] = sums[1] = sums[2] = 0;
        loops.dots(x + offset, g + offset, runs, stride, n, mean[c], sums);
    }
    void ReduceColumns(int64_t offset, int64_t rows, int64_t stride, int64_t width,
                       const T* centers, double* sums, int64_t plane) const {
        loops.column_dots(x + offset, g + offset, rows, stride, width, centers, sums, plane);
    }
    static void Join(double* sums, int64_t step, int64_t, const double* more, int64_t more_step,
                     int64_t) {
        for (int k = 0; k < kSums; ++k) sums[k * step] += more[k * more_step];
    }
    void Finish(int64_t c, const double* sums, T* params, int64_t step) const {
        const auto r = static_cast<double>(inv_std[c]);
        const double rest = sums[0] / count;  // rounding error of the mean
        const double product = sums[2] - rest * sums[1];
        ggamma[c] = static_cast<T>(product * r);
        gbeta[c] = static_cast<T>(sums[1]);
        const double of_g = static_cast<double>(gamma[c]) * r;
        const double of_x = -of_g * r * r * product / count;
        params[0] = mean[c];
        params[step] = static_cast<T>(of_x);
        params[2 * step] = static_cast<T>(of_g);
        params[3 * step] = static_cast<T>(-of_g * sums[1] / count - of_x * rest);
    }
    void Map(int64_t offset, int64_t runs, int64_t stride, int64_t n, const T* params,
             int64_t param_step) const {
        loops.affine2(x + offset, g + offset, runs, stride, n, params, param_step, gx + offset);
    }
    void MapColumns(int64_t offset, int64_t rows, int64_t stride, int64_t width, const T* params,
                    int64_t plane) const {
        loops.column_affine2(x + offset, g + offset, rows, stride, width, params, plane,
                             gx + offset);
    }
};

void BatchNormGrad(const Array& x, const Array& gamma, const Array& mean, const Array& inv_std,
                   const Array& gy, const Array& gx, const Array& ggamma, const Array& gbeta) {
    if (RunUpcast(gx, IsHalf(x), [&](const Array& wide) {
            BatchNormGrad(ToFloat32(x), gamma, mean, inv_std, ToFloat32(gy), wide, ggamma, gbeta);
        })) {
        return;
    }
    VisitUpcast(normalization_loops(), x.dtype(),
                [&]<typename T>(const NormalizationLoops<T>& loops) {
                    const ChannelShape shape = ShapeOf(x);
                    Backward<T> op{loops,
                                   Data<T>(x),
                                   Data<T>(gy),
                                   Data<T>(gamma),
                                   Data<T>(mean),
                                   Data<T>(inv_std),
                                   static_cast<double>(shape.count()),
                                   gx.GetTotalSize() == 0 ? nullptr : Data<T>(gx),
                                   Data<T>(ggamma),
                                   Data<T>(gbeta)};
                    ChannelRun<T, Backward<T>>{shape, op}.Run();
                });
}
CX_NATIVE_KERNEL(BatchNormGrad)

// Pure elementwise: nothing is reduced.
template <typename T>
struct Fixed : Writer<T> {
    static constexpr int kSums = 1;

    const T* gamma;
    const T* beta;
    const T* mean;
    const T* var;
    double eps;

    const T* Centers() const { return nullptr; }
    void Reduce(int64_t, int64_t, int64_t, int64_t, int64_t, double*) const {}
    void ReduceColumns(int64_t, int64_t, int64_t, int64_t, const T*, double*, int64_t) const {}
    static void Join(double*, int64_t, int64_t, const double*, int64_t, int64_t) {}
    void Finish(int64_t c, const double*, T* params, int64_t step) const {
        const double r = 1 / std::sqrt(static_cast<double>(var[c]) + eps);
        SetAffine(static_cast<double>(mean[c]), static_cast<double>(gamma[c]) * r,
                  static_cast<double>(beta[c]), params, step);
    }
};

void FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                    const Array& var, double eps, const Array& y) {
    if (RunUpcast(y, [&](const Array& wide) {
            FixedBatchNorm(ToFloat32(x), gamma, beta, mean, var, eps, wide);
        })) {
        return;
    }
    VisitUpcast(normalization_loops(), x.dtype(),
                [&]<typename T>(const NormalizationLoops<T>& loops) {
                    Fixed<T> op{{loops, Data<T>(x), Data<T>(y)},
                                Data<T>(gamma),
                                Data<T>(beta),
                                Data<T>(mean),
                                Data<T>(var),
                                eps};
                    ChannelRun<T, Fixed<T>>{ShapeOf(x), op}.Run();
                });
}
CX_NATIVE_KERNEL(FixedBatchNorm)

}  // namespace
}  // namespace chainerx::native
