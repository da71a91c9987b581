// Recurrent layers: a launch per step.
#include "chainerx/kernels/rnn/recurrent.h"

#include "chainerx/cuda/rnn/params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

using ArrayRefs = std::span<const ConstArrayRef>;

using CellChoice = Choice<4>;
CellChoice ChoiceOf(RecurrentCell cell) {
    static constexpr const char* kTexts[] = {"RecurrentCell::kLstm", "RecurrentCell::kGru",
                                             "RecurrentCell::kTanh", "RecurrentCell::kRelu"};
    return {static_cast<int>(cell), kTexts[static_cast<int>(cell)]};
}

using StepKernel = Kernel<StepParams, Dtype, CellChoice>;
#define CX_STEP_KERNEL(variable, function) \
    CX_DEVICE_KERNEL(variable, "rnn/device/steps.h", StepParams, function, Dtype, CellChoice)
CX_STEP_KERNEL(kForward, "RecurrentForward<T, U, false>")
CX_STEP_KERNEL(kForwardWithInput, "RecurrentForward<T, U, true>")
CX_STEP_KERNEL(kBackward, "RecurrentBackward<T, U>")
#undef CX_STEP_KERNEL

void* AddressOf(const Array& x) { return x.GetTotalSize() == 0 ? nullptr : x.raw_data(); }

Array CopyOf(const Array& x) {
    const Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    return y;
}

// Launches steps of `sequences` at most.
class Steps {
 public:
    Steps(StepParams& params, RecurrentCell cell, const StepKernel& kernel, const Array& ys,
          int64_t sequences)
        : params_{params}, device_{static_cast<CudaDevice&>(ys.device())} {
        params.rows = ys.shape()[0];
        params.size = ys.shape()[1];
        params.unit_blocks = CeilDiv(params.size, kStepTile);
        blocks_ = CeilDiv(sequences, kStepTile) * params.unit_blocks;
        function_ = kernel.Get(device_, ys.dtype(), ChoiceOf(cell));
    }
    void Run(int64_t before, int64_t step, int64_t next) const {
        params_.before = before;
        params_.step = step;
        params_.next = next;
        Launch(device_.current_stream(), function_, {blocks_, kBlockThreads}, params_);
    }

 private:
    StepParams& params_;
    CudaDevice& device_;
    int64_t blocks_;
    CUfunction function_;
};

// Sets the weights, one matrix per gate, and returns where steps end.
Array SetLayer(StepParams& params, const Array& u, const Array& sizes, RecurrentCell cell) {
    const int64_t gate = u.GetNBytes() / CountGates(cell);
    for (int64_t k = 0; k < CountGates(cell); ++k) params.u[k] = u.raw_data() + k * gate;
    const Array ends = EmptyUnchecked(sizes.shape(), Dtype::kInt64, sizes.device());
    CallOn<kernels::CumSum>(sizes.device(), sizes, 0, false, ends);
    params.sizes = sizes.raw_data();
    params.ends = ends.raw_data();
    return ends;
}

void Recurrence(const Array& z, const Array& u, const Array& b, const Array& sizes,
                const Array& /*kept*/, RecurrentCell cell, bool reverse, const Array& h,
                const Array& c, const Array& ys, const Array& cs, const Array& saved) {
    const int64_t n = sizes.GetTotalSize();
    if (n == 0) return;
    const Array h0 = CopyOf(h);  // h is written while others read it
    StepParams params{};
    const Array ends = SetLayer(params, u, sizes, cell);
    Prepare(z, u, b, sizes, h, c, ys, cs, saved);
    params.z = z.raw_data();
    params.bias = AddressOf(b);
    params.h = h.raw_data();
    params.h0 = h0.raw_data();
    params.c = AddressOf(c);
    params.ys = ys.raw_data();
    params.cs = AddressOf(cs);
    params.saved = AddressOf(saved);
    const Steps steps{params, cell, kForward, ys, h.shape()[0]};
    for (int64_t k = 0; k < n; ++k) {
        const int64_t step = reverse ? n - 1 - k : k;
        steps.Run(k == 0 ? -1 : reverse ? step + 1 : step - 1, step, -1);
    }
}
CX_CUDA_KERNEL(Recurrence)

void RecurrenceGrad(const Array& u, const Array& sizes, RecurrentCell cell, bool reverse,
                    const Array& h0, const Array& c0, const Array& ys, const Array& cs,
                    const Array& saved, const Array& gys, const Array& gh, const Array& gc,
                    const Array& gz, const Array& gu, const Array& gb) {
    Device& device = ys.device();
    const bool is_gru = cell == RecurrentCell::kGru;
    const Array gp = is_gru ? EmptyUnchecked(gz.shape(), gz.dtype(), device) : Array{};
    const Array states =
        gu.GetTotalSize() != 0 ? EmptyUnchecked(ys.shape(), ys.dtype(), device) : Array{};
    StepParams params{};
    const Array ends = SetLayer(params, u, sizes, cell);
    Prepare(u, sizes, h0, c0, ys, cs, saved, gys, gh, gc, gz);
    params.ys = ys.raw_data();
    params.cs = AddressOf(cs);
    params.saved = AddressOf(saved);
    params.h0 = h0.raw_data();
    params.c0 = AddressOf(c0);
    params.gys = AddressOf(gys);
    params.gh = gh.raw_data();
    params.gc = AddressOf(gc);
    params.gz = gz.raw_data();
    params.gp = is_gru ? gp.raw_data() : nullptr;
    params.states = states.is_null() ? nullptr : states.raw_data();
    const Steps steps{params, cell, kBackward, ys, h0.shape()[0]};
    const int64_t n = sizes.GetTotalSize();
    const auto step_at = [&](int64_t k) { return k < 0 || k >= n ? -1 : reverse ? k : n - 1 - k; };
    for (int64_t k = 0; k <= n; ++k) steps.Run(step_at(k - 1), step_at(k), step_at(k + 1));

    const Array& of_product = is_gru ? gp : gz;
    if (gu.GetTotalSize() != 0) {
        const Strides transposed{of_product.strides()[1], of_product.strides()[0]};
        const Array left =
            internal::MakeView(of_product, {of_product.shape()[1], of_product.shape()[0]},
                               transposed, of_product.raw_data());
        CallOn<kernels::Matmul>(device, left, states, gu);
    }
    if (gb.GetTotalSize() != 0) {
        const Array last = internal::MakeView(of_product, ys.shape(), of_product.strides(),
                                              of_product.raw_data() + 2 * gb.GetNBytes());
        CallOn<kernels::Sum>(device, last, Axes{0}, gb);
    }
}
CX_CUDA_KERNEL(RecurrenceGrad)

void RecurrenceStep(const Array& x, ArrayRefs ws, ArrayRefs bs, RecurrentCell cell, const Array& h,
                    const Array& c, const Array& ys, const Array& cs, const Array& saved) {
    const auto gates = static_cast<size_t>(CountGates(cell));
    const Array h0 = CopyOf(h);
    const Array z =
        EmptyUnchecked({ys.shape()[0], ys.shape()[1] * CountGates(cell)}, ys.dtype(), ys.device());
    CudaDevice& device = Prepare(x, h, c, ys, cs, saved);
    StepParams params{};
    for (const ArrayRefs& arrays : {ws, bs}) {
        for (const Array& array : arrays) device.RecordUse(array, device.current_stream());
    }
    for (size_t k = 0; k < gates; ++k) {
        params.w[k] = AddressOf(ws[k]);
        params.u[k] = AddressOf(ws[gates + k]);
        params.biases[0][k] = AddressOf(bs[k]);
        params.biases[1][k] = AddressOf(bs[gates + k]);
    }
    if (cell == RecurrentCell::kGru) params.bias = params.biases[1][2];
    params.x = AddressOf(x);
    params.features = x.shape()[1];
    params.z = z.raw_data();
    params.h = h.raw_data();
    params.h0 = h0.raw_data();
    params.c = AddressOf(c);
    params.ys = ys.raw_data();
    params.cs = AddressOf(cs);
    params.saved = AddressOf(saved);
    Steps{params, cell, kForwardWithInput, ys, ys.shape()[0]}.Run(-1, 0, -1);
}
CX_CUDA_KERNEL(RecurrenceStep)

}  // namespace
}  // namespace chainerx::cuda
