// Batch and row normalizations. cuda/norm/device/normalization.h computes.
#include "chainerx/kernels/norm/normalization.h"

#include <algorithm>

#include "chainerx/cuda/norm/params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/native/norm/row_order.h"

namespace chainerx::cuda {
namespace {

enum Layout : int8_t { kRuns, kColumns };
constexpr int64_t kSizeOfState = 24;
constexpr int64_t kSizeOfParam = 32;

// The steps of an operation, by layout: lanes sum a unit of runs.
struct NormKernel {
    Kernel<NormParams, Dtype> sums[2];
    Kernel<NormParams, Dtype> finish[2];
    Kernel<NormParams, Dtype> write[2];
};
constexpr const char* kHeader = "norm/device/normalization.h";
#define CX_NORM_STEP(step, op, of_runs, of_columns)         \
    {{kHeader, "NormParams", step "<" op ", " of_runs ">"}, \
     {kHeader, "NormParams", step "<" op ", " of_columns ">"}}
#define CX_NORM(op)                                                       \
    {CX_NORM_STEP("NormSums", op, "native::NormLanes<Number<T>>()", "1"), \
     CX_NORM_STEP("NormFinish", op, "false", "true"),                     \
     CX_NORM_STEP("NormWrite", op, "native::NormLanes<Number<T>>()", "1")}
constinit const NormKernel kBatchNorm CX_NORM("BatchNorm<T>");
constinit const NormKernel kBatchNormGrad CX_NORM("BatchNormGrad<T>");
constinit const NormKernel kRowNorm[] = {CX_NORM("RowNorm<T, false>"), CX_NORM("RowNorm<T, true>")};
constinit const NormKernel kRowNormGrad[] = {CX_NORM("RowNormGrad<T, false>"),
                                             CX_NORM("RowNormGrad<T, true>")};
constinit const NormKernel kRowNormGradGamma CX_NORM("RowNormGradGamma<T>");
CX_DEVICE_KERNEL(kFixedBatchNorm, kHeader, NormParams, "NormFixed<T>", Dtype)

// A call: the shape in `params` decides on threads and pieces.
class Call {
 public:
    explicit Call(const Array& x)
        : device_{static_cast<CudaDevice&>(x.device())},
          stream_{device_.current_stream()},
          dtype_{x.dtype()} {
        device_.Activate();
        Use(params.x, x);
    }

    // Returns nothing for a missing array.
    void Use(Ptr<char>& p, const Array& x) {
        device_.RecordUse(x, stream_);
        p = x.GetTotalSize() == 0 ? nullptr : x.raw_data();
    }

    // Runs of a channel; `is_flat` if they are one piece.
    void SetRuns(int64_t n, int64_t c, int64_t s, bool is_flat) {
        layout_ = kRuns;
        params.n = n;
        params.c = c;
        params.s = s;
        params.cuts = is_flat ? 1 : CeilDiv(s, native::kNormPiece);
        params.block = is_flat ? n : std::max<int64_t>(1, native::kNormPiece / s);
        const int64_t length = params.cuts == 1 ? s : native::kNormPiece;
        params.units_of_piece =
            length > native::kNormUnit
                ? params.block * CeilDiv(length, native::kNormUnit)
                : CeilDiv(params.block, native::NormRunsOfUnit(std::max<int64_t>(length, 1)));
        params.units = CeilDiv(n, params.block) * params.cuts * params.units_of_piece;
        units_ = c * params.units;
    }
    void SetColumns(int64_t n, int64_t c, int64_t s, const native::NormColumns& columns) {
        layout_ = kColumns;
        params.n = n;
        params.c = c;
        params.s = s;
        params.period = columns.period;
        params.rows = columns.rows;
        params.rest = columns.rest;
        params.block = columns.block;
        params.units_of_piece = CeilDiv(columns.block, native::kNormRows);
        params.units = CeilDiv(columns.rows, columns.block) * params.units_of_piece;
        units_ = params.units * columns.period + columns.rest;
    }

    void Run(const NormKernel& kernel) {
        const bool is_one = layout_ == kRuns && params.units == 1;
        Array scratch;
        if (!is_one) {
            const int64_t of_sums = units_ * kSizeOfState;
            scratch =
                EmptyUnchecked(Shape{of_sums + params.c * kSizeOfParam}, Dtype::kUInt8, device_);
            params.sums = scratch.raw_data();
            params.of_channels = scratch.raw_data() + of_sums;
        }
        const bool finishes = !is_one && layout_ == kRuns && params.c <= CudaStream::kCounters;
        params.counters = finishes ? stream_.counters() : nullptr;
        const Grid of_units = ThreadsFor(units_ * Lanes());
        kernel.sums[layout_].Launch(device_, of_units, params, dtype_);
        if (is_one) return;
        if (!finishes) {
            kernel.finish[layout_].Launch(device_, ThreadsFor(params.c), params, dtype_);
        }
        if (params.y.address == nullptr) return;
        kernel.write[layout_].Launch(device_, of_units, params, dtype_);
    }

    void RunFixed() {
        kFixedBatchNorm.Launch(device_, ThreadsFor(params.n * params.c * params.s), params, dtype_);
    }

    NormParams params{};

 private:
    int64_t Lanes() const {
        if (layout_ == kColumns) return 1;
        return dtype_ == Dtype::kFloat64 ? native::NormLanes<double>() : native::NormLanes<float>();
    }

    CudaDevice& device_;
    CudaStream& stream_;
    Dtype dtype_;
    Layout layout_{kRuns};
    int64_t units_{0};
};

Call CallOfChannels(const Array& x) {
    Call call{x};
    const int64_t n = x.shape()[0];
    const int64_t c = x.shape()[1];
    const int64_t s = x.shape()[2];
    if (s >= native::kNormLongRun) {
        call.SetRuns(n, c, s, native::IsOneNormPiece(n * s, c));
    } else {
        call.SetColumns(n, c, s, native::ColumnsOf(n, c, s));
    }
    return call;
}

void SetRunning(Call& call, int k, const Array& running) {
    call.Use(call.params.running[k], running);
    if (running.GetTotalSize() == 0) return;
    call.params.running_strides[k] = running.strides()[0];
    static constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32,
                                        Dtype::kFloat64};
    call.params.running_dtypes[k] =
        1 +
        (std::find(std::begin(kDtypes), std::end(kDtypes), running.dtype()) - std::begin(kDtypes));
}

void BatchNorm(const Array& x, const Array& gamma, const Array& beta, double eps, double decay,
               const Array& running_mean, const Array& running_var, const Array& y,
               const Array& mean, const Array& inv_std) {
    Call call = CallOfChannels(x);
    call.Use(call.params.gamma, gamma);
    call.Use(call.params.beta, beta);
    SetRunning(call, 0, running_mean);
    SetRunning(call, 1, running_var);
    call.Use(call.params.y, y);
    call.Use(call.params.mean, mean);
    call.Use(call.params.inv_std, inv_std);
    call.params.eps = eps;
    call.params.decay = decay;
    call.Run(kBatchNorm);
}
CX_CUDA_KERNEL(BatchNorm)

void BatchNormGrad(const Array& x, const Array& gamma, const Array& mean, const Array& inv_std,
                   const Array& gy, const Array& gx, const Array& ggamma, const Array& gbeta) {
    Call call = CallOfChannels(x);
    call.Use(call.params.gamma, gamma);
    call.Use(call.params.mean, mean);
    call.Use(call.params.inv_std, inv_std);
    call.Use(call.params.gy, gy);
    call.Use(call.params.y, gx);
    call.Use(call.params.ggamma, ggamma);
    call.Use(call.params.gbeta, gbeta);
    call.Run(kBatchNormGrad);
}
CX_CUDA_KERNEL(BatchNormGrad)

void FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                    const Array& var, double eps, const Array& y) {
    Call call = CallOfChannels(x);
    call.Use(call.params.gamma, gamma);
    call.Use(call.params.beta, beta);
    call.Use(call.params.mean, mean);
    call.Use(call.params.inv_std, var);
    call.Use(call.params.y, y);
    call.params.eps = eps;
    call.RunFixed();
}
CX_CUDA_KERNEL(FixedBatchNorm)

Call CallOfRows(const Array& x, double eps) {
    const Shape& shape = x.shape();
    Call call{x};
    const int64_t rows = shape[0] * shape[1];
    const int64_t length = shape[2] * shape[3];
    call.SetRuns(1, rows, length, native::IsOneNormPiece(length, rows));
    call.params.groups = shape[1];
    call.params.stretches = shape[2];
    call.params.stretch = shape[3];
    call.params.eps = eps;
    return call;
}

void RowNorm(const Array& x, const Array& gamma, const Array& beta, bool centered, double eps,
             const Array& y, const Array& mean, const Array& inv_std) {
    Call call = CallOfRows(x, eps);
    call.Use(call.params.gamma, gamma);
    call.Use(call.params.beta, beta);
    call.Use(call.params.y, y);
    call.Use(call.params.mean, mean);
    call.Use(call.params.inv_std, inv_std);
    call.Run(kRowNorm[centered]);
}
CX_CUDA_KERNEL(RowNorm)

void RowNormGrad(const Array& x, const Array& gamma, const Array& mean, const Array& inv_std,
                 const Array& gy, bool centered, double eps, const Array& gx, const Array& ggamma,
                 const Array& gbeta) {
    const int64_t rows = x.shape()[0] * x.shape()[1];
    const Dtype wide = gamma.dtype();
    const int64_t length = x.shape()[2] * x.shape()[3];
    Call call = CallOfRows(x, eps);
    call.Use(call.params.gamma, gamma);
    Array own[2];
    if (mean.GetTotalSize() == 0) {
        for (Array& of : own) of = EmptyUnchecked(Shape{rows}, wide, x.device());
        call.params.mean = own[0].raw_data();
        call.params.inv_std = own[1].raw_data();
        call.SetRuns(1, rows, length, true);
        call.Run(kRowNorm[centered]);
    } else {
        call.Use(call.params.mean, mean);
        call.Use(call.params.inv_std, inv_std);
    }
    const Array of_rows = EmptyUnchecked(Shape{3 * rows}, wide, x.device());
    call.params.of_rows = of_rows.raw_data();
    call.Use(call.params.gy, gy);
    call.Use(call.params.y, gx);
    call.SetRuns(1, rows, length, length <= native::kNormShortRow);
    call.Run(kRowNormGrad[centered]);
    call.params.y = nullptr;
    call.Use(call.params.ggamma, ggamma);
    call.Use(call.params.gbeta, gbeta);
    const int64_t n = x.shape()[0];
    const int64_t channels = x.shape()[1] * x.shape()[2];
    const int64_t stretch = x.shape()[3];
    if (stretch < native::kNormLongRun) {
        const int64_t image = channels * stretch;
        const int64_t block = native::GammaBlock(n, image, length);
        call.SetColumns(n, channels, stretch, {1, image, n, 0, block});
    } else {
        call.SetRuns(n, channels, stretch, true);
    }
    call.Run(kRowNormGradGamma);
}
CX_CUDA_KERNEL(RowNormGrad)

}  // namespace
}  // namespace chainerx::cuda
