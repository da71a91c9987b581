// ArgMax, ArgMin and their variants. cuda/reduce/device/arg_reduce.h computes.
#include <algorithm>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/cuda/reduce/params.h"
#include "chainerx/cuda/reduce/plan_params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::cuda {
namespace {

enum Variant { kWarps, kBlocks, kRows, kCombine, kVariants };

struct ArgReduction {
    const char* name;
    const char* flags;  // largest, skips NaN
    FunctionTable<kNumDtypes, kVariants> functions{};
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
    CudaStream& stream = device.current_stream();
    native::ReducePlan plan{x, axes, out, native::AxisOrder::kGiven};
    ReduceParams params{};
    params.in = plan.kept.data[0];
    params.out = plan.kept.data[1];
    CopyDims(plan.kept, plan.kept.ndim, params.kept);
    CopyDims(plan.reduced, params.reduced);
    params.n_out = plan.n_out;
    params.n = plan.n_reduced;
    const auto launch = [&](Variant variant, int64_t blocks) {
        static constexpr const char* kFunctions[] = {"ArgReduceWarps", "ArgReduceBlocks",
                                                     "ArgReduceRows", "ArgCombine"};
        const CUfunction function =
            reduction.functions.Get(device, static_cast<int>(x.dtype()), variant, [&] {
                return MakeSource(
                    StrCat(reduction.name, "_", GetDtypeName(x.dtype()), "_", kFunctions[variant]),
                    "reduce/device/arg_reduce.h", "ReduceParams",
                    StrCat(kFunctions[variant], "<ArgExtreme<", DeviceTypeOf(x.dtype()), ", ",
                           reduction.flags, ">>(p);"));
            });
        Launch(stream, function, {blocks, kReduceThreads}, params);
    };
    const auto blocks_for = [](int64_t n) { return (n + kReduceThreads - 1) / kReduceThreads; };
    const int64_t blocks = plan.by_rows ? blocks_for(plan.n_out) : plan.n_out;
    const int64_t least = plan.by_rows ? kRowsOfThread : kRunOfBlock;
    params.n_pieces = std::clamp<int64_t>(std::min(plan.n_reduced / least, kEnoughBlocks / blocks),
                                          1, kMaxPieces);
    params.piece = (plan.n_reduced + params.n_pieces - 1) / params.n_pieces;
    params.n_pieces = (plan.n_reduced + params.piece - 1) / params.piece;
    Array parts;
    if (params.n_pieces > 1) {
        parts = EmptyUnchecked(Shape{params.n_out * params.n_pieces * 16}, Dtype::kUInt8, device);
        params.parts = parts.raw_data();
    }
    if (plan.by_rows) {
        launch(kRows, blocks_for(plan.n_out * params.n_pieces));
    } else if (plan.n_reduced <= kShortRun) {
        launch(kWarps, (plan.n_out + 7) / 8);
    } else {
        launch(kBlocks, plan.n_out * params.n_pieces);
    }
    if (params.n_pieces > 1) launch(kCombine, blocks_for(plan.n_out));
}

#define CX_ARG_REDUCE(Name, flags)                                                                 \
    constinit const ArgReduction k##Name{#Name, flags};                                            \
    void Name(const Array& x, const Axes& axes, const Array& out) { Find(k##Name, x, axes, out); } \
    CX_CUDA_KERNEL(Name)

CX_ARG_REDUCE(ArgMax, "true, false")
CX_ARG_REDUCE(ArgMin, "false, false")
CX_ARG_REDUCE(NanArgMax, "true, true")
CX_ARG_REDUCE(NanArgMin, "false, true")

}  // namespace
}  // namespace chainerx::cuda
