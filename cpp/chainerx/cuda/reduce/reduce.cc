// Reductions: Sum, Mean, Max and their like. cuda/reduce/device/reduce.h computes.
#include <limits>

#include "chainerx/cuda/reduce/params.h"
#include "chainerx/cuda/reduce/plan_params.h"
#include "chainerx/cuda/reduce/reduction_texts.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::cuda {
namespace {

using native::ReducePlan;
using native::RowPieces;

using ReduceKernel = Kernel<ReduceParams, Dtype, Dtype>;
struct Reduction {
    ReductionTexts texts;
    // The size of an accumulator for an element of that dtype.
    int64_t (*acc_size)(Dtype dtype);
    ReduceKernel runs;
    ReduceKernel combine_runs;
    ReduceKernel rows;
    ReduceKernel narrow_rows;
    ReduceKernel combine_rows;
};
#define CX_REDUCE_KERNEL(header, function, arguments) \
    {"reduce/device/" header, "ReduceParams", function "<" arguments ">"}
// `policy` and `store` are of cuda/reduce/device/policies.h, or of the header.
#define CX_REDUCTION(header, policy, store, acc_size, ...)                           \
    {{"reduce/device/" header, policy, store __VA_OPT__(, ) __VA_ARGS__},            \
     &acc_size,                                                                      \
     CX_REDUCE_KERNEL(header, "ReduceRuns", policy "<T>, " store "<U>, T, U"),       \
     CX_REDUCE_KERNEL(header, "CombineRuns", policy "<T>, " store "<U>, U"),         \
     CX_REDUCE_KERNEL(header, "ReduceRows", policy "<T>, " store "<U>, T, U"),       \
     CX_REDUCE_KERNEL(header, "ReduceNarrowRows", policy "<T>, " store "<U>, T, U"), \
     CX_REDUCE_KERNEL(header, "CombineRows", policy "<T>, " store "<U>, U")}

// One call: the plan is the same as native's.
class Call {
 public:
    Call(const Reduction& reduction, CudaDevice& device, const ReducePlan& plan, Dtype in,
         Dtype out, const void* centers)
        : reduction_{reduction},
          device_{device},
          plan_{plan},
          in_{in},
          out_{out},
          acc_size_{reduction.acc_size(in)} {
        params_.in = plan.kept.data[0];
        params_.out = plan.kept.data[1];
        params_.centers = const_cast<void*>(centers);
        CopyDims(plan.reduced, params_.reduced);
        params_.n_out = plan.n_out;
        params_.n = plan.n_reduced;
    }

    void Run() {
        if (plan_.by_rows) {
            RunRows();
        } else {
            RunRuns();
        }
    }

 private:
    void RunRuns() {
        CopyDims(plan_.kept, plan_.kept.ndim, params_.kept);
        const Array parts = Divide(native::ReducePiece(params_.n));
        // Threads for the lanes of one block of elements, or of several at a time.
        const int threads = params_.n <= native::kReduceBlock
                                ? static_cast<int>(native::ReduceLanes(acc_size_))
                                : kBlockThreads;
        Launch(reduction_.runs, {std::min(params_.n_out * params_.n_pieces, kMaxBlocks), threads});
        if (params_.n_pieces > 1) {
            Launch(reduction_.combine_runs, {std::min(params_.n_out, kMaxBlocks)});
        }
    }

    void RunRows() {
        const RowPieces pieces{plan_, GetItemSize(in_), acc_size_};
        CopyDims(plan_.kept, plan_.kept.ndim - 1, params_.kept);
        params_.n_columns = pieces.n_columns;
        params_.merged = pieces.merged;
        for (int k = 0; k < 2; ++k) params_.column_strides[k] = plan_.kept.run_stride(k);
        const Array parts = Divide(pieces.piece);
        const int64_t n_rows = pieces.n_outer * params_.n_pieces;
        if (pieces.merged > 1 && pieces.piece >= 4 * pieces.merged) {
            Launch(reduction_.narrow_rows, {n_rows});
        } else {
            Launch(reduction_.rows, ThreadsFor(n_rows * pieces.n_columns));
        }
        if (params_.n_pieces > 1) Launch(reduction_.combine_rows, ThreadsFor(params_.n_out));
    }

    // Returns memory for the accumulators of the pieces, if there are several per output.
    Array Divide(int64_t piece) {
        params_.piece = piece;
        params_.n_pieces = CeilDiv(params_.n, piece);
        if (params_.n_pieces == 1) return {};
        Array parts = EmptyUnchecked(Shape{params_.n_out * params_.n_pieces * acc_size_},
                                     Dtype::kUInt8, device_);
        params_.parts = parts.raw_data();
        return parts;
    }

    void Launch(const ReduceKernel& kernel, const Grid& grid) {
        kernel.Launch(device_, grid, params_, in_, out_);
    }

    // Blocks take several outputs each where there are more.
    static constexpr int64_t kMaxBlocks = 1 << 20;

    const Reduction& reduction_;
    CudaDevice& device_;
    const ReducePlan& plan_;
    Dtype in_;
    Dtype out_;
    int64_t acc_size_;
    ReduceParams params_{};
};

bool FillIfEmpty(const Array& x, const Array& out, const Scalar& identity) {
    if (x.GetTotalSize() != 0) return false;
    CallOn<kernels::Fill>(out.device(), out, identity);
    return true;
}

void Reduce(const Reduction& reduction, const Array& x, const Axes& axes, const Array& out,
            const Scalar& identity) {
    if (out.GetTotalSize() == 0 || FillIfEmpty(x, out, identity)) return;
    const ReducePlan plan{x, axes, out};
    Call{reduction, Prepare(x, out), plan, x.dtype(), out.dtype(), nullptr}.Run();
}

int64_t ComputeSize(Dtype dtype) { return GetItemSize(dtype) < 4 ? 4 : GetItemSize(dtype); }
int64_t TotalSize(Dtype dtype) { return IsDifferentiable(dtype) ? ComputeSize(dtype) : 8; }
int64_t PartSize(Dtype dtype) { return TotalSize(RealDtype(dtype)); }
int64_t EightBytes(Dtype /*dtype*/) { return 8; }
int64_t OneByte(Dtype /*dtype*/) { return 1; }

#define CX_REDUCTION_KERNEL(Name) \
    CX_CUDA_KERNEL(Name)          \
    const RegisteredReduction<kernels::Name> kTextsOf##Name{k##Name.texts};

#define CX_REDUCE(Name, store, acc_size, identity)                                       \
    constinit const Reduction k##Name CX_REDUCTION("reduce.h", #Name, #store, acc_size); \
    void Name(const Array& x, const Axes& axes, const Array& out) {                      \
        Reduce(k##Name, x, axes, out, identity);                                         \
    }                                                                                    \
    CX_REDUCTION_KERNEL(Name)

CX_REDUCE(Sum, StoreCast, TotalSize, 0)
CX_REDUCE(NanSum, StoreCast, TotalSize, 0)
CX_REDUCE(Prod, StoreCast, TotalSize, 1)
CX_REDUCE(WideSum, StoreCast, EightBytes, 0)
CX_REDUCE(SumSquares, StoreCast, ComputeSize, 0)
CX_REDUCE(Max, StoreCast, ComputeSize, 0)
CX_REDUCE(Min, StoreCast, ComputeSize, 0)
CX_REDUCE(NanMax, StoreCast, ComputeSize, 0)
CX_REDUCE(NanMin, StoreCast, ComputeSize, 0)
CX_REDUCE(All, StoreCast, OneByte, true)
CX_REDUCE(Any, StoreCast, OneByte, false)
CX_REDUCE(CountNonzero, StoreCast, EightBytes, 0)
CX_REDUCE(Mean, StoreQuotient, TotalSize, std::numeric_limits<double>::quiet_NaN())

// Second passes are centered on the results of a first one.
constinit const Reduction kVar CX_REDUCTION("reduce.h", "Squares", "StoreQuotient", PartSize,
                                            &kMean.texts);
constinit const Reduction kStd CX_REDUCTION("reduce.h", "Squares", "StoreRoot", PartSize,
                                            &kMean.texts);

// `first` computes the center of each output, in the type of accumulators.
void ReduceTwice(const Reduction& first, const Reduction& reduction, const Array& x,
                 const Axes& axes, const Array& out, const Scalar& identity) {
    if (out.GetTotalSize() == 0 || FillIfEmpty(x, out, identity)) return;
    CudaDevice& device = Prepare(x, out);
    const Dtype center = DtypeOfCenters(x.dtype());
    const ReducePlan plan{x, axes, out};
    const Array centers = EmptyUnchecked(Shape{plan.n_out}, center, device);
    const ReducePlan of_centers = plan.Into(centers.raw_data(), GetItemSize(center));
    Call{first, device, of_centers, x.dtype(), center, nullptr}.Run();
    Call{reduction, device, plan, x.dtype(), out.dtype(), centers.raw_data()}.Run();
}

void Var(const Array& x, const Axes& axes, const Array& out) {
    ReduceTwice(kMean, kVar, x, axes, out, std::numeric_limits<double>::quiet_NaN());
}
CX_REDUCTION_KERNEL(Var)

void Std(const Array& x, const Axes& axes, const Array& out) {
    ReduceTwice(kMean, kStd, x, axes, out, std::numeric_limits<double>::quiet_NaN());
}
CX_REDUCTION_KERNEL(Std)

// The maximum, then the sum of exp(x - maximum).
constinit const Reduction kShift CX_REDUCTION("log_sum_exp.h", "Max", "StoreShift", ComputeSize);
constinit const Reduction kLogSumExp CX_REDUCTION("log_sum_exp.h", "Exps", "StoreLogSumExp",
                                                  TotalSize, &kShift.texts);

void LogSumExp(const Array& x, const Axes& axes, const Array& out) {
    const double least = -std::numeric_limits<double>::infinity();
    ReduceTwice(kShift, kLogSumExp, x, axes, out, least);
}
CX_REDUCTION_KERNEL(LogSumExp)

// By the id of their kernels.
constinit const ReductionTexts* g_texts[kKernelTableSize]{};

}  // namespace

const ReductionTexts* FindReduction(const KernelInfo& kernel) { return g_texts[kernel.id]; }

void SetReduction(const KernelInfo& kernel, const ReductionTexts& texts) {
    g_texts[kernel.id] = &texts;
}

Dtype DtypeOfCenters(Dtype in) {
    if (IsComplex(in)) return in;
    return TotalSize(in) == 8 ? Dtype::kFloat64 : Dtype::kFloat32;
}

}  // namespace chainerx::cuda
