#include "chainerx/cuda/elementwise/elementwise.h"

#include <algorithm>

#include "chainerx/core/error.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {

namespace {

// Elements that a thread loads at once: 16 bytes of the larger type.
int64_t PackWidth(const Array& out, Dtype dtype) {
    return 16 / std::max(out.GetItemSize(), GetItemSize(dtype));
}

template <int kInputs>
class Call {
 public:
    Call(const ElementwiseKernel& kernel, std::span<const Operand> inputs, Dtype dtype,
         const Array& out)
        : kernel_{kernel},
          inputs_{inputs},
          out_{out},
          dtype_{dtype},
          device_{static_cast<CudaDevice&>(out.device())},
          stream_{device_.current_stream()} {}

    void Run() {
        if (!ComputesIn(kernel_.rule, dtype_)) {
            ThrowUnexpectedDtype(dtype_, "a dtype that the rule of this kernel computes in");
        }
        if (out_.GetTotalSize() == 0) return;
        device_.Activate();
        device_.RecordUse(out_, stream_);
        for (const Operand& x : inputs_) {
            if (x.is_array()) device_.RecordUse(x.array(), stream_);
        }
        if (IsContiguous()) {
            RunContiguous();
        } else {
            RunStrided();
        }
    }

 private:
    bool IsContiguous() const {
        const int64_t width = PackWidth(out_, dtype_);
        if (!out_.IsContiguous() || !IsAligned(out_, width * out_.GetItemSize())) return false;
        return std::ranges::all_of(inputs_, [&](const Operand& x) {
            return !x.is_array() ||
                   (x.array().IsContiguous() && x.array().shape() == out_.shape() &&
                    IsAligned(x.array(), width * x.array().GetItemSize()));
        });
    }

    template <typename Params>
    unsigned FillOperands(Params& params) const {
        params.size = out_.GetTotalSize();
        params.out = out_.raw_data();
        unsigned scalar_mask = 0;
        for (int k = 0; k < kInputs; ++k) {
            if (inputs_[k].is_array()) {
                params.in[k] = inputs_[k].array().raw_data();
            } else {
                StoreScalar(inputs_[k].scalar(), dtype_, params.scalars[k]);
                scalar_mask |= 1u << k;
            }
        }
        return scalar_mask;
    }

    CUfunction Function(int layout) const {
        return kernel_.functions.Get(device_, static_cast<int>(dtype_), layout, [&] {
            return WriteElementwiseSource(kernel_, dtype_, layout);
        });
    }

    void RunContiguous() {
        ElementwiseParams<kInputs> params{};
        const unsigned scalar_mask = FillOperands(params);
        const int64_t chunk = kBlockThreads * PackWidth(out_, dtype_);
        const CUfunction function = Function(static_cast<int>(scalar_mask));
        Launch(stream_, function, {(params.size + chunk - 1) / chunk, kBlockThreads}, params);
    }

    void RunStrided() {
        StridedParams<kInputs> params{};
        params.scalar_mask = FillOperands(params);
        const Array* arrays[kInputs + 1] = {&out_};
        for (int k = 0; k < kInputs; ++k) {
            if (inputs_[k].is_array()) arrays[k + 1] = &inputs_[k].array();
        }
        SetStrides(params, out_.shape(), arrays);
        const bool is_wide = params.size > INT32_MAX;
        const auto layout = is_wide ? ElementwiseLayout::kStridedWide : ElementwiseLayout::kStrided;
        constexpr int64_t kChunk = kBlockThreads * kStridedElements;
        const CUfunction function = Function(static_cast<int>(layout));
        Launch(stream_, function, {(params.size + kChunk - 1) / kChunk, kBlockThreads}, params);
    }

    const ElementwiseKernel& kernel_;
    std::span<const Operand> inputs_;
    const Array& out_;
    Dtype dtype_;
    CudaDevice& device_;
    CudaStream& stream_;
};

}  // namespace

void RunElementwise(const ElementwiseKernel& kernel, std::span<const Operand> inputs, Dtype dtype,
                    const Array& out) {
    switch (kernel.inputs) {
        case 1:
            Call<1>{kernel, inputs, dtype, out}.Run();
            break;
        case 2:
            Call<2>{kernel, inputs, dtype, out}.Run();
            break;
        default:
            Call<3>{kernel, inputs, dtype, out}.Run();
            break;
    }
}

}  // namespace chainerx::cuda
