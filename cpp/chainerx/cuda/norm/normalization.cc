// Batch and row normalizations. cuda/norm/device/normalization.h computes.
#include "chainerx/kernels/norm/normalization.h"

#include <algorithm>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/cuda/norm/params.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"

namespace chainerx::cuda {
namespace {

// Threads of a channel. The names are those of device/channels.h.
enum Layout : int8_t { kBlocks, kWarps, kColumns };
constexpr int kLayouts = 3;
enum Step : int8_t { kSums, kFinish, kWrite };
constexpr int kSteps = 3;
constexpr int kLanesOf[] = {256, 32, 8};
constexpr int64_t kSizeOfState = 24;
constexpr int64_t kSizeOfParam = 32;

struct NormKernel {
    const char* op;
    const char* flag;  // after the dtype in its template
    FunctionTable<kNumDtypes, kSteps * kLayouts> functions{};
};

// A call: the shape in `params` decides on threads and pieces.
class Call {
 public:
    Call(const Array& x, int64_t n, int64_t c, int64_t s)
        : device_{static_cast<CudaDevice&>(x.device())},
          stream_{device_.current_stream()},
          dtype_{x.dtype()} {
        device_.Activate();
        Use(params.x, x);
        SetShape(n, c, s);
    }

    // Returns nothing for a missing array.
    void Use(Ptr<char>& p, const Array& x) {
        device_.RecordUse(x, stream_);
        p = x.GetTotalSize() == 0 ? nullptr : x.raw_data();
    }

    void SetShape(int64_t n, int64_t c, int64_t s) {
        params.n = n;
        params.c = c;
        params.s = s;
        const int64_t count = n * s;
        layout_ = s == 1 && c > 1 ? kColumns : count <= kShortChannel ? kWarps : kBlocks;
        tiles_ = CeilDiv(c, kNormThreads / kLanesOf[layout_]);
        const int64_t least = kItemsOfLane * kLanesOf[layout_];
        const int64_t pieces =
            std::clamp<int64_t>(std::min(count / least, kEnoughBlocks / tiles_), 1, kMaxPieces);
        params.piece = CeilDiv(count, pieces);
        params.pieces = CeilDiv(count, params.piece);
    }

    void Run(const NormKernel& kernel) {
        Array scratch;
        if (params.pieces > 1) {
            const int64_t of_sums = params.pieces * params.c * kSizeOfState;
            scratch =
                EmptyUnchecked(Shape{of_sums + params.c * kSizeOfParam}, Dtype::kUInt8, device_);
            params.sums = scratch.raw_data();
            params.of_channels = scratch.raw_data() + of_sums;
        }
        LaunchStep(kernel, kSums, tiles_ * params.pieces);
        if (params.pieces == 1) return;
        LaunchStep(kernel, kFinish, CeilDiv(params.c, kNormThreads));
        if (params.y.address != nullptr) LaunchStep(kernel, kWrite, tiles_ * params.pieces);
    }

    void RunFixed(const NormKernel& kernel) {
        Get(kernel, kWrite, StrCat("NormFixed<", DeviceTypeOf(dtype_), LayoutArguments()),
            tiles_ * params.pieces);
    }

    NormParams params{};

 private:
    void LaunchStep(const NormKernel& kernel, Step step, int64_t blocks) {
        static constexpr const char* kFunctions[] = {"NormSums<", "NormFinish<", "NormWrite<"};
        Get(kernel, step,
            StrCat(kFunctions[step], kernel.op, "<", DeviceTypeOf(dtype_), kernel.flag, ">",
                   step == kFinish ? ">" : LayoutArguments()),
            blocks);
    }
    std::string LayoutArguments() const {
        return StrCat(", ", kLanesOf[layout_], layout_ == kColumns ? ", true>" : ", false>");
    }
    void Get(const NormKernel& kernel, Step step, const std::string& call, int64_t blocks) {
        const int column = step * kLayouts + (step == kFinish ? 0 : layout_);
        const CUfunction function =
            kernel.functions.Get(device_, static_cast<int>(dtype_), column, [&] {
                return MakeSource(StrCat(kernel.op, "_", GetDtypeName(dtype_), "_", column),
                                  "norm/device/normalization.h", "NormParams",
                                  StrCat(call, "(p);"));
            });
        Launch(stream_, function, {blocks, kNormThreads}, params);
    }

    static constexpr int64_t kShortChannel = 1024;
    static constexpr int64_t kItemsOfLane = 32;
    static constexpr int64_t kEnoughBlocks = 1024;
    static constexpr int64_t kMaxPieces = 64;

    CudaDevice& device_;
    CudaStream& stream_;
    Dtype dtype_;
    Layout layout_{kBlocks};
    int64_t tiles_{0};
};

Call CallOfChannels(const Array& x) { return {x, x.shape()[0], x.shape()[1], x.shape()[2]}; }

constinit const NormKernel kBatchNorm{"BatchNorm", ""};
constinit const NormKernel kBatchNormGrad{"BatchNormGrad", ""};
constinit const NormKernel kFixedBatchNorm{"FixedBatchNorm", ""};
constinit const NormKernel kRowNorm[] = {{"RowNorm", ", false"}, {"RowNorm", ", true"}};
constinit const NormKernel kRowNormGrad[] = {{"RowNormGrad", ", false"}, {"RowNormGrad", ", true"}};
constinit const NormKernel kRowNormGradGamma{"RowNormGradGamma", ""};

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
    call.RunFixed(kFixedBatchNorm);
}
CX_CUDA_KERNEL(FixedBatchNorm)

Call CallOfRows(const Array& x, double eps) {
    const Shape& shape = x.shape();
    Call call{x, 1, shape[0] * shape[1], shape[2] * shape[3]};
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
    Call call = CallOfRows(x, eps);
    call.Use(call.params.gamma, gamma);
    Array own[2];
    if (mean.GetTotalSize() == 0) {
        for (Array& of : own) of = EmptyUnchecked(Shape{rows}, wide, x.device());
        call.params.mean = own[0].raw_data();
        call.params.inv_std = own[1].raw_data();
        call.Run(kRowNorm[centered]);
    } else {
        call.Use(call.params.mean, mean);
        call.Use(call.params.inv_std, inv_std);
    }
    const Array of_rows = EmptyUnchecked(Shape{3 * rows}, wide, x.device());
    call.params.of_rows = of_rows.raw_data();
    call.Use(call.params.gy, gy);
    call.Use(call.params.y, gx);
    call.Run(kRowNormGrad[centered]);
    call.params.y = nullptr;
    call.Use(call.params.ggamma, ggamma);
    call.Use(call.params.gbeta, gbeta);
    call.SetShape(x.shape()[0], x.shape()[1] * x.shape()[2], x.shape()[3]);
    call.Run(kRowNormGradGamma);
}
CX_CUDA_KERNEL(RowNormGrad)

}  // namespace
}  // namespace chainerx::cuda
