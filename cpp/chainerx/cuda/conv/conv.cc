// Convolutions: forward, input gradient and weight gradient. cuda/conv/device/conv.h computes them
// where cuDNN does not.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "chainerx/cuda/conv/library_conv.h"
#include "chainerx/cuda/conv/params.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/gemm/plan.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/conv/connection.h"
#include "chainerx/kernels/linalg/linalg.h"

namespace chainerx::cuda {
namespace {

// As ConvPass of cuda/conv/device/axes.h.
enum Pass { kForward, kInputGrad, kWeightGrad };
using PassChoice = Choice<3>;
using DimsChoice = Choice<4>;

#define CX_CONV_KERNEL(variable, function, ...) \
    CX_DEVICE_KERNEL(variable, "conv/device/conv.h", ConvParams, function, Dtype, __VA_ARGS__)
CX_CONV_KERNEL(kTiles, "ConvTiles<T, U, V, kGemmTile>", DimsChoice, PassChoice)
CX_CONV_KERNEL(kLargeTiles, "ConvTiles<T, U, V, kGemmLargeTile>", DimsChoice, PassChoice)
CX_CONV_KERNEL(kDirect, "ConvDirect<T, U, V>", DimsChoice, PassChoice)
CX_CONV_KERNEL(kDirectWeightGrad, "ConvDirectWeightGrad<T, U>", DimsChoice)
#undef CX_CONV_KERNEL

// A pass on the way to its launch.
class Call {
 public:
    // `out` of `a` and `b`, as in cuda/conv/params.h. The parameters know all but addresses and how
    // work is divided.
    Call(Pass pass, const Array& a, const Array& b, const ConvGeometry& geometry, const Array& out)
        : a_{a}, b_{b}, out_{out}, pass_{pass}, ndim_{out.ndim() - 2} {
        const bool is_weights = pass == kWeightGrad;
        const int row = pass == kForward ? 0 : 1;  // the axis of a that m counts
        const int n = is_weights ? 1 : 0;          // the axis of b that n_outer counts
        const int grouped = is_weights ? 1 : 0;    // the axis of a that has the groups
        p.groups = geometry.groups;
        p.pieces = 1;
        p.classes = 1;
        p.m = out.shape()[1 - grouped] / p.groups;
        p.n_outer = out.shape()[grouped];
        p.k_outer = is_weights ? b.shape()[0] : b.shape()[1] / p.groups;
        p.a_group = a.shape()[grouped] / p.groups * a.strides()[grouped];
        p.a_row = a.strides()[row];
        p.a_outer = a.strides()[1 - row];
        p.b_group = b.shape()[1] / p.groups * b.strides()[1];
        p.b_n_outer = b.strides()[n];
        p.b_k_outer = b.strides()[1 - n];
        p.n_out = out.GetTotalSize();
        const int64_t positions = SetAxes(geometry);
        p.out_row = is_weights ? p.n_outer * positions : positions;
        p.out_group = p.m * p.out_row;
        p.out_outer = is_weights ? positions : p.groups * p.out_group;
    }

    void Run(const Array* bias = nullptr) {
        if (p.n_out == 0) return;
        CudaDevice& device = Prepare(out_, a_, b_);
        p.a = a_.raw_data();
        p.b = b_.raw_data();
        p.out = out_.raw_data();
        if (bias != nullptr && bias->GetTotalSize() != 0) {
            device.RecordUse(*bias, device.current_stream());
            p.bias = bias->raw_data();
            p.bias_stride = bias->strides()[0];
        }
        const bool is_direct = dims_ <= 3 && IsFloat(out_.dtype()) &&
                               p.m * (pass_ == kWeightGrad ? p.n_outer : 1) <= kFewChannels;
        internal::NoteAlgorithm(is_direct ? "direct" : "implicit_gemm");
        if (!is_direct) {
            RunTiles(device);
        } else if (pass_ == kWeightGrad) {
            const Array parts = Divide(device, p.n_out, kBlockThreads * 8);
            kDirectWeightGrad.Launch(device, {p.n_out * p.pieces}, p, out_.dtype(), Dims());
        } else {
            kDirect.Launch(device, ThreadsFor(p.n_out), p, out_.dtype(), Dims(), PassText());
        }
    }

 private:
    // Axes after those of the arrays have length 1. Returns the product of the others' of `out`.
    int64_t SetAxes(const ConvGeometry& geometry) {
        for (int d = 0; d < kMaxConvDims; ++d) p.axes[d] = {1, 1, 1, 0, 1, 1, 1, 0, 0, 0};
        int64_t positions = 1;
        for (int d = ndim_ - 1; d >= 0; --d) {
            const int i = d + 2;
            const int64_t stride = geometry.stride[d];
            const int64_t dilate = geometry.dilate[d];
            const bool is_transposed = pass_ == kInputGrad;
            p.axes[d] = {out_.shape()[i],
                         a_.shape()[i],
                         b_.shape()[i],
                         is_transposed ? geometry.pad[d] : -geometry.pad[d],
                         pass_ == kWeightGrad ? dilate : stride,
                         pass_ == kWeightGrad ? stride : dilate,
                         is_transposed ? stride / std::gcd(stride, dilate) : 1,
                         a_.strides()[i],
                         b_.strides()[i],
                         positions};
            positions *= out_.shape()[i];
        }
        dims_ = ndim_ <= 3 && FitsInt32() ? ndim_ : kMaxConvDims;
        return positions;
    }

    void RunTiles(CudaDevice& device) {
        int64_t columns = p.n_outer;
        for (int d = 0; d < ndim_; ++d) {
            const int64_t stride = pass_ == kInputGrad ? p.axes[d].n_step : 1;
            p.classes *= stride;
            columns *= CeilDiv(p.axes[d].n_size, stride);
        }
        const bool is_large =
            dims_ <= 3 && PrefersLargeTiles(out_.dtype(), p.classes * p.groups, p.m, columns);
        const int64_t tile = is_large ? kGemmLargeTile : kGemmTile;
        const int64_t row_tiles = CeilDiv(p.m, tile);
        const int64_t column_tiles = CeilDiv(columns, tile);
        p.row_tiles = static_cast<uint32_t>(row_tiles);
        p.column_tiles = static_cast<uint32_t>(column_tiles);
        // Of an input gradient with windows of one element, rows are nearer.
        p.a_rows_first = p.a_row < p.axes[ndim_ - 1].a_stride ||
                         (p.a_row < p.a_outer && p.axes[ndim_ - 1].k_size == 1);
        // Of a forward pass, all of k is adjacent; of a weight gradient, the positions are.
        const int64_t adjacent = pass_ == kForward ? p.k_outer : 1;
        p.a_quads = pass_ != kInputGrad && a_.IsContiguous() &&
                    IsAligned(a_, AlignOfQuad(a_.GetItemSize())) && adjacent * CountTaps() % 4 == 0;
        if (p.a_quads) p.a_rows_first = false;
        const int64_t tiles = p.classes * p.groups * row_tiles * column_tiles;
        const Array parts = Divide(device, tiles, kGemmDepth * 16);
        (is_large ? kLargeTiles : kTiles)
            .Launch(device, {tiles * p.pieces}, p, out_.dtype(), Dims(), PassText());
    }

    int64_t CountTaps() const {
        int64_t n = 1;
        for (int d = 0; d < ndim_; ++d) n *= p.axes[d].k_size;
        return n;
    }

    // Cuts k into pieces, at least so long, if there would be few blocks. Returns memory for their
    // sums.
    Array Divide(CudaDevice& device, int64_t blocks, int64_t least) {
        const int64_t k = p.k_outer * CountTaps();
        p.pieces = CountPieces(blocks, k, least);
        p.piece = CeilDiv(CeilDiv(k, p.pieces), kBlockThreads) * kBlockThreads;
        if (p.pieces == 1) return {};
        const Array parts =
            EmptyUnchecked(Shape{p.pieces * p.n_out * std::max<int64_t>(4, out_.GetItemSize())},
                           Dtype::kUInt8, device);
        p.parts = parts.raw_data();
        p.counters = device.current_stream().counters();
        return parts;
    }

    DimsChoice Dims() const {
        static constexpr const char* kTexts[] = {"1", "2", "3", "kMaxConvDims"};
        const int k = std::min(dims_, 4) - 1;
        return {k, kTexts[k]};
    }
    PassChoice PassText() const {
        static constexpr const char* kTexts[] = {"ConvPass::kForward", "ConvPass::kInputGrad",
                                                 "ConvPass::kWeightGrad"};
        return {pass_, kTexts[pass_]};
    }

    // Whether 32-bit numbers count all there is, with room for what is outside.
    bool FitsInt32() const {
        constexpr double kMax = 0x1p29;
        double n = static_cast<double>(p.n_out);
        double k = static_cast<double>(p.k_outer);
        for (int d = 0; d < ndim_; ++d) {
            const ConvAxis& axis = p.axes[d];
            k *= static_cast<double>(axis.k_size);
            const double reach =
                std::abs(static_cast<double>(axis.origin)) +
                static_cast<double>(axis.n_size) * static_cast<double>(axis.n_step) +
                static_cast<double>(axis.k_size) * static_cast<double>(axis.k_step) +
                static_cast<double>(axis.length);
            n = std::max(n, reach);
        }
        return n < kMax && k < kMax;
    }

    static constexpr int64_t kFewChannels = 4;  // a tile would be mostly empty

    const Array& a_;
    const Array& b_;
    const Array& out_;
    Pass pass_;
    int ndim_;
    int dims_{0};
    ConvParams p{};
};

void Conv(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
          const Array& y) {
    if (TryLibraryConv(ConvPass::kForward, x, w, y, geometry, &b)) return;
    Call{kForward, w, x, geometry, y}.Run(&b);
}
CX_CUDA_KERNEL(Conv)

void ConvInputGrad(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                   const Array& gx) {
    if (TryLibraryConv(ConvPass::kInputGrad, gx, w, gy, geometry, &b)) return;
    Call{kInputGrad, w, gy, geometry, gx}.Run(&b);
}
CX_CUDA_KERNEL(ConvInputGrad)

void ConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                    const Array& gw) {
    if (TryLibraryConv(ConvPass::kWeightGrad, x, gw, gy, geometry, nullptr)) return;
    Call{kWeightGrad, gy, x, geometry, gw}.Run();
}
CX_CUDA_KERNEL(ConvWeightGrad)

// The convolution of one channel by one window.
void SlidingProduct(const Array& x, const Array& w, int64_t before, const Array& out) {
    const auto as_image = [](const Array& a) {
        return internal::MakeView(a, {1, 1, a.shape()[0]}, {0, 0, a.strides()[0]}, a.raw_data());
    };
    ConvGeometry geometry{};
    geometry.stride[0] = geometry.dilate[0] = 1;
    geometry.pad[0] = before;
    geometry.groups = 1;
    Call{kForward, as_image(w), as_image(x), geometry, as_image(out)}.Run();
}
CX_CUDA_KERNEL(SlidingProduct)

}  // namespace
}  // namespace chainerx::cuda
