// Connectionist temporal classification: a block for each row and direction, then a warp for each
// step of a row.
#include "chainerx/kernels/loss/ctc.h"

#include "chainerx/cuda/loss/params.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/norm/softmax.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

using CtcKernel = Kernel<CtcParams, Dtype>;
#define CX_CTC_KERNEL(variable, header, function) \
    CX_DEVICE_KERNEL(variable, "loss/device/" header, CtcParams, function, Dtype)
CX_CTC_KERNEL(kCtc, "ctc.h", "Ctc<T>")
CX_CTC_KERNEL(kWeights, "ctc.h", "CtcWeights<T>")
CX_CTC_KERNEL(kJoin, "ctc.h", "CtcJoin<T>")
CX_CTC_KERNEL(kGrad, "ctc.h", "CtcGrad<T>")
CX_CTC_KERNEL(kDualStats, "ctc_jvp.h", "CtcDualStats<T>")
CX_CTC_KERNEL(kDualWeights, "ctc_jvp.h", "CtcDualWeights<T>")
CX_CTC_KERNEL(kGradAlong, "ctc_jvp.h", "CtcGradAlong<T>")
#undef CX_CTC_KERNEL

// A warp for each step of a row.
Grid WarpsFor(int64_t steps) { return ThreadsFor(32 * steps); }

CtcParams ParamsOf(const Array& x, const Array& t, const Array& input_length,
                   const Array& label_length, int64_t blank, const Array& out) {
    CtcParams params{};
    params.x = x.raw_data();
    params.t = t.raw_data();
    params.input_length = input_length.raw_data();
    params.label_length = label_length.raw_data();
    params.blank = blank;
    params.steps = x.shape()[0];
    params.rows = x.shape()[1];
    params.classes = x.shape()[2];
    params.labels = t.shape()[1];
    params.states = 2 * params.labels + 1;
    params.out = out.raw_data();
    params.log = static_cast<CudaDevice&>(x.device()).error_log();
    constexpr const char* kOp = "connectionist_temporal_classification";
    const auto length = [&](const char* name, int64_t bound) {
        return MakeErrorSite(KernelError::Length(kOp, name, 0, 0, bound));
    };
    params.input_site = length("input_length", params.steps);
    params.length_site = length("label_length", params.labels);
    params.label_site = MakeErrorSite(KernelError::Label(kOp, "x2", 0, 0, params.classes, nullptr));
    params.steps_site = MakeErrorSite(KernelError::FewSteps(kOp, "t", 0, 0, 0));
    return params;
}

Array Bytes(int64_t n, Device& device) { return EmptyUnchecked(Shape{n}, Dtype::kUInt8, device); }

void Ctc(const Array& x, const Array& t, const Array& input_length, const Array& label_length,
         int64_t blank, const Array& loss, const Array& stats) {
    CtcParams params = ParamsOf(x, t, input_length, label_length, blank, loss);
    Device& device = x.device();
    const int64_t scores = params.steps * params.rows;
    if (scores != 0 && params.classes != 0) {
        // Statistics only: every label is one to ignore.
        const Array labels = EmptyUnchecked({scores}, Dtype::kInt64, device);
        CallOn<kernels::Fill>(device, labels, Scalar{0});
        const Array losses = EmptyUnchecked({scores}, x.dtype(), device);
        const Array rows =
            internal::MakeView(x, {scores, params.classes},
                               {params.classes * x.GetItemSize(), x.GetItemSize()}, x.raw_data());
        CallOn<kernels::SoftmaxCrossEntropy>(device, rows, labels, 0, 0.0, losses, stats);
    }
    params.stats = stats.raw_data();
    const int64_t row_bytes = 2 * params.states * stats.GetItemSize();
    constexpr int64_t kMaxShared = 40 << 10;
    Array weights;
    if (row_bytes > kMaxShared) {
        weights = Bytes(row_bytes * params.rows, device);
        params.weights[0] = weights.raw_data();
    }
    kCtc.Launch(Prepare(x, t, input_length, label_length, loss, stats),
                {params.rows, kBlockThreads, row_bytes > kMaxShared ? 0 : row_bytes}, params,
                x.dtype());
}
CX_CUDA_KERNEL(Ctc)

// What both kinds of gradients need of each state.
struct States {
    Array weights[2];
    Array valid;
    Array links;

    // Weights are rows of numbers of a dtype.
    States(CtcParams& params, int64_t numbers, Dtype dtype, Device& device) {
        for (int k = 0; k < 2; ++k) {
            weights[k] = EmptyUnchecked({params.rows * params.steps, params.states * numbers},
                                        dtype, device);
            params.weights[k] = weights[k].raw_data();
        }
        valid = Bytes(params.rows * 8, device);
        links = Bytes(params.rows * params.states * 8, device);
        params.valid = valid.raw_data();
        params.links = links.raw_data();
    }
};

void CtcGrad(const Array& x, const Array& t, const Array& input_length, const Array& label_length,
             int64_t blank, const Array& stats, const Array& gy, const Array& gx) {
    CtcParams params = ParamsOf(x, t, input_length, label_length, blank, gx);
    CudaDevice& device = Prepare(x, t, input_length, label_length, stats, gy, gx);
    const States states{params, 1, stats.dtype(), device};
    params.stats = stats.raw_data();
    params.gy = gy.raw_data();
    kWeights.Launch(device, {2 * params.rows}, params, x.dtype());
    const int64_t steps = params.rows * params.steps;
    kJoin.Launch(device, ThreadsFor(steps * params.states), params, x.dtype());
    // Into the other weights, which are joined already.
    if (steps != 0) CallOn<kernels::Softmax>(device, states.weights[0], states.weights[1]);
    params.posterior = states.weights[1].raw_data();
    kGrad.Launch(device, WarpsFor(steps), params, x.dtype());
}
CX_CUDA_KERNEL(CtcGrad)

void CtcGradAlong(const Array& x, const Array& t, const Array& input_length,
                  const Array& label_length, int64_t blank, const Array& gy, const Array& v,
                  const Array& out) {
    CtcParams params = ParamsOf(x, t, input_length, label_length, blank, out);
    CudaDevice& device = Prepare(x, t, input_length, label_length, gy, v, out);
    const States states{params, 2, Dtype::kFloat64, device};
    const int64_t steps = params.rows * params.steps;
    const Array stats = Bytes(steps * 16, device);
    params.stats = stats.raw_data();
    params.gy = gy.raw_data();
    params.v = v.raw_data();
    kDualStats.Launch(device, WarpsFor(steps), params, x.dtype());
    kDualWeights.Launch(device, {2 * params.rows}, params, x.dtype());
    kGradAlong.Launch(device, WarpsFor(steps), params, x.dtype());
}
CX_CUDA_KERNEL(CtcGradAlong)

}  // namespace
}  // namespace chainerx::cuda
