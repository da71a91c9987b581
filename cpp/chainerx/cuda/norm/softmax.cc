// Softmax, its losses, and what counts labels. cuda/norm/device/softmax.h computes.
#include "chainerx/kernels/norm/softmax.h"

#include <algorithm>
#include <optional>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/norm/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/native/norm/row_order.h"

namespace chainerx::cuda {
namespace {

// Threads of a row and its elements per thread: 0 if they are read again.
struct RowVariant {
    int64_t columns;  // at most
    int threads;
    int items;
};
constexpr RowVariant kRowVariants[] = {
    {32, 8, 4}, {256, 32, 8}, {1024, 32, 32}, {8192, 256, 32}, {INT64_MAX, 256, 0}};
constexpr int kVariants = 5;

struct SoftmaxKernel {
    const char* name;
    const char* params;
    FunctionTable<kNumDtypes, kVariants> functions{};
};

int64_t BlocksFor(int64_t n) { return (n + kNormThreads - 1) / kNormThreads; }

// A kernel of one call; `arguments` follow the dtype in its template.
template <typename Params>
void LaunchKernel(const SoftmaxKernel& kernel, Dtype dtype, int variant,
                  const std::string& arguments, const Array& on, int64_t blocks,
                  const Params& params) {
    auto& device = static_cast<CudaDevice&>(on.device());
    const CUfunction function = kernel.functions.Get(device, static_cast<int>(dtype), variant, [&] {
        return MakeSource(StrCat(kernel.name, "_", GetDtypeName(dtype), "_", variant),
                          "norm/device/softmax.h", kernel.params,
                          StrCat(kernel.name, "<", DeviceTypeOf(dtype), arguments, ">(p);"));
    });
    Launch(device.current_stream(), function, {blocks, kNormThreads}, params);
}

void LaunchRows(const SoftmaxKernel& kernel, const Array& x, SoftmaxParams& params) {
    params.x = x.raw_data();
    params.rows = x.shape()[0];
    params.columns = x.shape()[1];
    int variant = 0;
    while (params.columns > kRowVariants[variant].columns) ++variant;
    const auto [columns, threads, items] = kRowVariants[variant];
    const int64_t rows = kNormThreads / threads;  // of a block
    LaunchKernel(kernel, x.dtype(), variant, StrCat(", ", threads, ", ", items), x,
                 (params.rows + rows - 1) / rows, params);
}

void SetLabels(SoftmaxParams& params, const Array& t, const char* op, const int64_t* ignored,
               int64_t classes) {
    params.labels = t.raw_data();
    params.ignores = ignored != nullptr ? 1 : 0;
    params.ignored = ignored != nullptr ? *ignored : 0;
    params.log = static_cast<CudaDevice&>(t.device()).error_log();
    params.site = MakeErrorSite(KernelError::Label(op, "x2", 0, 0, classes, ignored));
}

constinit const SoftmaxKernel kSoftmax{"Softmax", "SoftmaxParams"};
constinit const SoftmaxKernel kLogSoftmax{"LogSoftmax", "SoftmaxParams"};
constinit const SoftmaxKernel kEntropy{"SoftmaxCrossEntropy", "SoftmaxParams"};
constinit const SoftmaxKernel kEntropyGrad{"SoftmaxCrossEntropyGrad", "SoftmaxParams"};
constinit const SoftmaxKernel kOneHot{"OneHot", "SoftmaxParams"};
constinit const SoftmaxKernel kMean{"MeanOfLabelled", "CountParams"};
constinit const SoftmaxKernel kMeanOfBlocks{"MeanOfBlocks", "CountParams"};
constinit const SoftmaxKernel kHits{"CountHits", "CountParams"};
constinit const SoftmaxKernel kHitsOfBlocks{"HitsOfBlocks", "CountParams"};

void ComputeRows(const SoftmaxKernel& kernel, const Array& x, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Prepare(x, out);
    SoftmaxParams params{};
    params.out = out.raw_data();
    LaunchRows(kernel, x, params);
}

void Softmax(const Array& x, const Array& out) { ComputeRows(kSoftmax, x, out); }
CX_CUDA_KERNEL(Softmax)

void LogSoftmax(const Array& x, const Array& out) { ComputeRows(kLogSoftmax, x, out); }
CX_CUDA_KERNEL(LogSoftmax)

void SoftmaxCrossEntropy(const Array& x, const Array& t, int64_t ignore, double smoothing,
                         const Array& loss, const Array& stats) {
    if (x.shape()[0] == 0) return;
    Prepare(x, t, loss, stats);
    SoftmaxParams params{};
    params.loss = loss.raw_data();
    params.stats = stats.raw_data();
    params.smoothing = smoothing;
    SetLabels(params, t, "softmax_cross_entropy", &ignore, x.shape()[1]);
    LaunchRows(kEntropy, x, params);
}
CX_CUDA_KERNEL(SoftmaxCrossEntropy)

void SoftmaxCrossEntropyGrad(const Array& x, const Array& t, int64_t ignore, double smoothing,
                             const Array& stats, const Array& gy, const Array& gx) {
    if (gx.GetTotalSize() == 0) return;
    Prepare(x, t, stats, gy, gx);
    SoftmaxParams params{};
    params.x = x.raw_data();
    params.out = gx.raw_data();
    params.stats = stats.raw_data();
    params.gy = gy.raw_data();
    params.gy_stride = gy.strides()[0];
    params.rows = x.shape()[0];
    params.columns = x.shape()[1];
    params.smoothing = smoothing;
    SetLabels(params, t, "softmax_cross_entropy", &ignore, params.columns);
    LaunchKernel(kEntropyGrad, x.dtype(), 0, "", x, BlocksFor(gx.GetTotalSize()), params);
}
CX_CUDA_KERNEL(SoftmaxCrossEntropyGrad)

void OneHot(const char* op, const Array& t, const std::optional<int64_t>& ignore,
            const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Prepare(t, out);
    SoftmaxParams params{};
    params.out = out.raw_data();
    params.rows = t.GetTotalSize();
    params.columns = out.shape()[1];
    SetLabels(params, t, op, ignore ? &*ignore : nullptr, params.columns);
    LaunchKernel(kOneHot, out.dtype(), 0, "", out, BlocksFor(out.GetTotalSize()), params);
}
CX_CUDA_KERNEL(OneHot)

// Counts by blocks, then their sums.
void Count(const SoftmaxKernel& first, const SoftmaxKernel& second, const Array& x,
           const std::string& arguments, int variant, int64_t blocks, CountParams& params) {
    params.blocks = std::max<int64_t>(blocks, 1);
    Array sums;
    if (params.blocks > 1) {
        sums = EmptyUnchecked(Shape{params.blocks * 24}, Dtype::kUInt8, x.device());
        params.sums = sums.raw_data();
        params.counts = sums.raw_data() + params.blocks * 8;
    }
    LaunchKernel(first, x.dtype(), variant, arguments, x, params.blocks, params);
    if (params.blocks > 1) LaunchKernel(second, x.dtype(), 0, "", x, 1, params);
}

void MeanOfLabelled(const Array& loss, const Array& t, int64_t ignore, const Array& mean,
                    const Array& scale) {
    Prepare(loss, t, mean, scale);
    CountParams params{};
    params.x = loss.raw_data();
    params.labels = t.raw_data();
    params.n = t.GetTotalSize();
    params.ignored = ignore;
    params.results[0] = mean.raw_data();
    params.results[1] = scale.raw_data();
    Count(kMean, kMeanOfBlocks, loss, "", 0, CeilDiv(params.n, native::kLabelledPiece), params);
}
CX_CUDA_KERNEL(MeanOfLabelled)

void CountHits(const Array& y, const Array& t, const std::optional<int64_t>& ignore,
               const Array& hits, const Array& counted) {
    Prepare(y, t, hits, counted);
    CountParams params{};
    params.x = y.raw_data();
    for (int8_t i = 0; i < 3; ++i) params.strides[i] = y.strides()[i];
    params.classes = y.shape()[1];
    params.positions = y.shape()[2];
    params.labels = t.raw_data();
    params.n = t.GetTotalSize();
    params.ignores = ignore ? 1 : 0;
    params.ignored = ignore.value_or(0);
    params.results[0] = hits.raw_data();
    params.results[1] = counted.raw_data();
    // A warp for adjacent scores, else a thread: those of its neighbours are adjacent.
    const bool is_wide = params.classes > 16 && params.positions == 1;
    constexpr int64_t kMaxBlocks = 512;
    const int64_t share = (is_wide ? 8 : kNormThreads) * 4;
    Count(kHits, kHitsOfBlocks, y, is_wide ? ", 32" : ", 1", is_wide ? 1 : 0,
          std::min(CeilDiv(params.n, share), kMaxBlocks), params);
}
CX_CUDA_KERNEL(CountHits)

}  // namespace
}  // namespace chainerx::cuda
