// ArgMax, ArgMin and their variants. cuda/reduce/device/arg_reduce.h computes.
#include <algorithm>

#include "chainerx/cuda/reduce/params.h"
#include "chainerx/cuda/reduce/plan_params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::cuda {
namespace {

using ArgKernel = Kernel<ReduceParams, Dtype>;
struct ArgReduction {
    ArgKernel warps;
    ArgKernel blocks;
    ArgKernel rows;
    ArgKernel combine;
};

// Elements that are worth a thread or, of a run, a block.
constexpr int64_t kShortRun = 1024;
constexpr int64_t kRowsOfThread = 256;
constexpr int64_t kRunOfBlock = 1 << 14;
constexpr int64_t kEnoughBlocks = 1024;
constexpr int64_t kMaxPieces = 1024;

void Find(const ArgReduction& reduction, const Array& x, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    CudaDevice& device = Prepare(x, out);
    native::ReducePlan plan{x, axes, out, native::AxisOrder::kGiven};
    ReduceParams params{};
    params.in = plan.kept.data[0];
    params.out = plan.kept.data[1];
    CopyDims(plan.kept, plan.kept.ndim, params.kept);
    CopyDims(plan.reduced, params.reduced);
    params.n_out = plan.n_out;
    params.n = plan.n_reduced;
    const auto launch = [&](const ArgKernel& kernel, const Grid& grid) {
        kernel.Launch(device, grid, params, x.dtype());
    };
    const int64_t blocks = plan.by_rows ? CeilDiv(plan.n_out, kBlockThreads) : plan.n_out;
    const int64_t least = plan.by_rows ? kRowsOfThread : kRunOfBlock;
    params.n_pieces = std::clamp<int64_t>(std::min(plan.n_reduced / least, kEnoughBlocks / blocks),
                                          1, kMaxPieces);
    params.piece = CeilDiv(plan.n_reduced, params.n_pieces);
    params.n_pieces = CeilDiv(plan.n_reduced, params.piece);
    Array parts;
    if (params.n_pieces > 1) {
        parts = EmptyUnchecked(Shape{params.n_out * params.n_pieces * 16}, Dtype::kUInt8, device);
        params.parts = parts.raw_data();
    }
    if (plan.by_rows) {
        launch(reduction.rows, ThreadsFor(plan.n_out * params.n_pieces));
    } else if (plan.n_reduced <= kShortRun) {
        launch(reduction.warps, {CeilDiv(plan.n_out, 8)});
    } else {
        launch(reduction.blocks, {plan.n_out * params.n_pieces});
    }
    if (params.n_pieces > 1) launch(reduction.combine, ThreadsFor(plan.n_out));
}

#define CX_ARG_KERNEL(function, flags) \
    {"reduce/device/arg_reduce.h", "ReduceParams", function "<ArgExtreme<T, " flags ">>"}
#define CX_ARG_REDUCE(Name, flags) /* largest, skips NaN */                                        \
    constinit const ArgReduction k##Name{                                                          \
        CX_ARG_KERNEL("ArgReduceWarps", flags), CX_ARG_KERNEL("ArgReduceBlocks", flags),           \
        CX_ARG_KERNEL("ArgReduceRows", flags), CX_ARG_KERNEL("ArgCombine", flags)};                \
    void Name(const Array& x, const Axes& axes, const Array& out) { Find(k##Name, x, axes, out); } \
    CX_CUDA_KERNEL(Name)

CX_ARG_REDUCE(ArgMax, "true, false")
CX_ARG_REDUCE(ArgMin, "false, false")
CX_ARG_REDUCE(NanArgMax, "true, true")
CX_ARG_REDUCE(NanArgMin, "false, true")

}  // namespace
}  // namespace chainerx::cuda
