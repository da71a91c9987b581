// Softmax, its losses, and what counts labels. cuda/norm/device/softmax.h computes.
#include "chainerx/kernels/norm/softmax.h"

#include <algorithm>
#include <optional>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/norm/params.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/native/norm/row_order.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kHeader = "norm/device/softmax.h";

// Threads of a row and its elements per thread: 0 if they are read again.
struct RowVariant {
    int64_t columns;  // at most
    int threads;
    const char* arguments;
};
constexpr RowVariant kRowVariants[] = {{32, 8, "8, 4"},
                                       {256, 32, "32, 8"},
                                       {1024, 32, "32, 32"},
                                       {8192, 256, "256, 32"},
                                       {INT64_MAX, 256, "256, 0"}};
using RowChoice = Choice<5>;
using RowKernel = Kernel<SoftmaxParams, Dtype, RowChoice>;
CX_DEVICE_KERNEL(kSoftmax, kHeader, SoftmaxParams, "Softmax<T, U>", Dtype, RowChoice)
CX_DEVICE_KERNEL(kLogSoftmax, kHeader, SoftmaxParams, "LogSoftmax<T, U>", Dtype, RowChoice)
CX_DEVICE_KERNEL(kEntropy, kHeader, SoftmaxParams, "SoftmaxCrossEntropy<T, U>", Dtype, RowChoice)
CX_DEVICE_KERNEL(kEntropyGrad, kHeader, SoftmaxParams, "SoftmaxCrossEntropyGrad<T>", Dtype)
CX_DEVICE_KERNEL(kOneHot, kHeader, SoftmaxParams, "OneHot<T>", Dtype)

LabelParams ToLabels(const Array& t) {
    const int64_t size = t.GetItemSize();
    return {t.raw_data(), GetKind(t.dtype()) == DtypeKind::kUInt ? -size : size};
}

void LaunchRows(const RowKernel& kernel, CudaDevice& device, const Array& x,
                SoftmaxParams& params) {
    params.x = x.raw_data();
    params.rows = x.shape()[0];
    params.columns = x.shape()[1];
    int variant = 0;
    while (params.columns > kRowVariants[variant].columns) ++variant;
    const auto [columns, threads, arguments] = kRowVariants[variant];
    kernel.Launch(device, ThreadsFor(params.rows * threads), params, x.dtype(),
                  {variant, arguments});
}

void SetLabels(SoftmaxParams& params, const Array& t, const char* op, const int64_t* ignored,
               int64_t classes) {
    params.labels = ToLabels(t);
    params.ignores = ignored != nullptr ? 1 : 0;
    params.ignored = ignored != nullptr ? *ignored : 0;
    params.log = static_cast<CudaDevice&>(t.device()).error_log();
    params.site = MakeErrorSite(KernelError::Label(op, "x2", 0, 0, classes, ignored));
}

void ComputeRows(const RowKernel& kernel, const Array& x, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    SoftmaxParams params{};
    params.out = out.raw_data();
    LaunchRows(kernel, Prepare(x, out), x, params);
}

void Softmax(const Array& x, const Array& out) { ComputeRows(kSoftmax, x, out); }
CX_CUDA_KERNEL(Softmax)

void LogSoftmax(const Array& x, const Array& out) { ComputeRows(kLogSoftmax, x, out); }
CX_CUDA_KERNEL(LogSoftmax)

void SoftmaxCrossEntropy(const Array& x, const Array& t, int64_t ignore, double smoothing,
                         const Array& loss, const Array& stats) {
    if (x.shape()[0] == 0) return;
    SoftmaxParams params{};
    params.loss = loss.raw_data();
    params.stats = stats.raw_data();
    params.smoothing = smoothing;
    SetLabels(params, t, "softmax_cross_entropy", &ignore, x.shape()[1]);
    LaunchRows(kEntropy, Prepare(x, t, loss, stats), x, params);
}
CX_CUDA_KERNEL(SoftmaxCrossEntropy)

void SoftmaxCrossEntropyGrad(const Array& x, const Array& t, int64_t ignore, double smoothing,
                             const Array& stats, const Array& gy, const Array& scale,
                             const Array& gx) {
    if (gx.GetTotalSize() == 0) return;
    SoftmaxParams params{};
    params.x = x.raw_data();
    params.out = gx.raw_data();
    params.stats = stats.raw_data();
    params.gy = gy.raw_data();
    params.gy_stride = gy.strides()[0];
    if (scale.GetTotalSize() != 0) params.scale = scale.raw_data();
    params.rows = x.shape()[0];
    params.columns = x.shape()[1];
    params.smoothing = smoothing;
    SetLabels(params, t, "softmax_cross_entropy", &ignore, params.columns);
    kEntropyGrad.Launch(Prepare(x, t, stats, gy, scale, gx), ThreadsFor(gx.GetTotalSize()), params,
                        x.dtype());
}
CX_CUDA_KERNEL(SoftmaxCrossEntropyGrad)

void OneHot(const char* op, const Array& t, const std::optional<int64_t>& ignore,
            const Array& out) {
    if (out.GetTotalSize() == 0) return;
    SoftmaxParams params{};
    params.out = out.raw_data();
    params.rows = t.GetTotalSize();
    params.columns = out.shape()[1];
    SetLabels(params, t, op, ignore ? &*ignore : nullptr, params.columns);
    kOneHot.Launch(Prepare(t, out), ThreadsFor(out.GetTotalSize()), params, out.dtype());
}
CX_CUDA_KERNEL(OneHot)

using CountKernel = Kernel<CountParams, Dtype>;
CX_DEVICE_KERNEL(kMean, kHeader, CountParams, "MeanOfLabelled<T>", Dtype)
CX_DEVICE_KERNEL(kMeanOfBlocks, kHeader, CountParams, "MeanOfBlocks<T>", Dtype)
CX_DEVICE_KERNEL(kHits, kHeader, CountParams, "CountHits<T, 1>", Dtype)
CX_DEVICE_KERNEL(kHitsOfWarps, kHeader, CountParams, "CountHits<T, 32>", Dtype)
CX_DEVICE_KERNEL(kHitsOfBlocks, kHeader, CountParams, "HitsOfBlocks<T>", Dtype)

// Counts by blocks, then their sums.
void Count(CudaDevice& device, const CountKernel& first, const CountKernel& second, Dtype dtype,
           int64_t blocks, CountParams& params) {
    params.blocks = std::max<int64_t>(blocks, 1);
    Array sums;
    if (params.blocks > 1) {
        sums = EmptyUnchecked(Shape{params.blocks * 24}, Dtype::kUInt8, device);
        params.sums = sums.raw_data();
        params.counts = sums.raw_data() + params.blocks * 8;
    }
    first.Launch(device, {params.blocks}, params, dtype);
    if (params.blocks > 1) second.Launch(device, {1}, params, dtype);
}

void MeanOfLabelled(const Array& loss, const Array& t, int64_t ignore, const Array& mean,
                    const Array& scale) {
    CountParams params{};
    params.x = loss.raw_data();
    params.labels = ToLabels(t);
    params.n = t.GetTotalSize();
    params.ignored = ignore;
    params.results[0] = mean.raw_data();
    params.results[1] = scale.raw_data();
    Count(Prepare(loss, t, mean, scale), kMean, kMeanOfBlocks, loss.dtype(),
          CeilDiv(params.n, native::kLabelledPiece), params);
}
CX_CUDA_KERNEL(MeanOfLabelled)

void CountHits(const Array& y, const Array& t, const std::optional<int64_t>& ignore,
               const Array& hits, const Array& counted) {
    CountParams params{};
    params.x = y.raw_data();
    for (int8_t i = 0; i < 3; ++i) params.strides[i] = y.strides()[i];
    params.classes = y.shape()[1];
    params.positions = y.shape()[2];
    params.labels = ToLabels(t);
    params.n = t.GetTotalSize();
    params.ignores = ignore ? 1 : 0;
    params.ignored = ignore.value_or(0);
    params.results[0] = hits.raw_data();
    params.results[1] = counted.raw_data();
    // A warp for adjacent scores, else a thread: those of its neighbours are adjacent.
    const bool is_wide = params.classes > 16 && params.positions == 1;
    constexpr int64_t kMaxBlocks = 512;
    const int64_t share = (is_wide ? 8 : kBlockThreads) * 4;
    Count(Prepare(y, t, hits, counted), is_wide ? kHitsOfWarps : kHits, kHitsOfBlocks, y.dtype(),
          std::min(CeilDiv(params.n, share), kMaxBlocks), params);
}
CX_CUDA_KERNEL(CountHits)

}  // namespace
}  // namespace chainerx::cuda
