// Convolutions: forward, input gradient and weight gradient. cuda/conv/device/conv.h computes.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "chainerx/cuda/conv/params.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/gemm/params.h"
#include "chainerx/cuda/gemm/plan.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/device_type.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/conv/connection.h"
#include "chainerx/kernels/linalg/linalg.h"

namespace chainerx::cuda {
namespace {

// As ConvPass of cuda/conv/device/axes.h.
enum Pass { kForward, kInputGrad, kWeightGrad };

enum Algorithm { kTiles, kLargeTiles, kDirect };

// Columns of the table: dimensions by pass by algorithm, and the sum of pieces.
constexpr int kVariants = 4 * 3 * 3;
constinit const FunctionTable<kNumDtypes, kVariants + 1> g_functions;

// A pass on the way to its launch. The parameters know all but addresses and how work is divided.
class Call {
 public:
    Call(Pass pass, const Array& a, const Array& b, const Array& out, int ndim)
        : a_{a}, b_{b}, out_{out}, pass_{pass}, ndim_{ndim} {
        p.n_out = out.GetTotalSize();
        p.groups = 1;
        p.pieces = 1;
        p.classes = 1;
    }

    // Axes after those of the arrays have length 1.
    void SetAxes(const auto& axis_of) {
        for (int d = 0; d < kMaxConvDims; ++d) p.axes[d] = {1, 1, 1, 0, 1, 1, 1, 0, 0, 0};
        int64_t out_stride = 1;
        for (int d = ndim_ - 1; d >= 0; --d) {
            ConvAxis& axis = p.axes[d];
            axis = axis_of(d);
            axis.out_stride = out_stride;
            out_stride *= axis.n_size;
        }
        positions_ = out_stride;
        dims_ = ndim_ <= 3 && FitsInt32() ? ndim_ : kMaxConvDims;
    }
    int64_t positions() const { return positions_; }

    void Run(const Array* bias) {
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
            const Array parts = Divide(device, p.n_out, kConvThreads * 8);
            LaunchVariant(device, kDirect, p.n_out * p.pieces);
            Combine(device);
        } else {
            LaunchVariant(device, kDirect, CeilDiv(p.n_out, kConvThreads));
        }
    }

    ConvParams p{};

 private:
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
        LaunchVariant(device, is_large ? kLargeTiles : kTiles, tiles * p.pieces);
        Combine(device);
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
        p.piece = CeilDiv(CeilDiv(k, p.pieces), kConvThreads) * kConvThreads;
        if (p.pieces == 1) return {};
        const Array parts =
            EmptyUnchecked(Shape{p.pieces * p.n_out * std::max<int64_t>(4, out_.GetItemSize())},
                           Dtype::kUInt8, device);
        p.parts = parts.raw_data();
        return parts;
    }
    void Combine(CudaDevice& device) {
        if (p.pieces == 1) return;
        const CUfunction function =
            g_functions.Get(device, static_cast<int>(out_.dtype()), kVariants, [&] {
                return WriteSource("combine", StrCat("CombinePieces<", DeviceTypeOf(out_.dtype())));
            });
        Launch(device.current_stream(), function, {CeilDiv(p.n_out, kConvThreads), kConvThreads},
               p);
    }

    void LaunchVariant(CudaDevice& device, Algorithm algorithm, int64_t blocks) {
        static constexpr const char* kPasses[] = {"kForward", "kInputGrad", "kWeightGrad"};
        static constexpr const char* kAlgorithms[] = {"tiles", "large_tiles", "direct"};
        const int variant = ((std::min(dims_, 4) - 1) * 3 + pass_) * 3 + algorithm;
        const CUfunction function =
            g_functions.Get(device, static_cast<int>(out_.dtype()), variant, [&] {
                const std::string pass = StrCat(", ConvPass::", kPasses[pass_]);
                return WriteSource(
                    StrCat(kPasses[pass_], "_", kAlgorithms[algorithm], "_", dims_),
                    StrCat(algorithm != kDirect   ? "ConvTiles<"
                           : pass_ == kWeightGrad ? "ConvDirectWeightGrad<"
                                                  : "ConvDirect<",
                           DeviceTypeOf(out_.dtype()), ", ", dims_,
                           algorithm != kDirect
                               ? pass + (algorithm == kTiles ? ", kGemmTile" : ", kGemmLargeTile")
                           : pass_ == kWeightGrad ? ""
                                                  : pass));
            });
        Launch(device.current_stream(), function, {blocks, kConvThreads}, p);
    }
    DeviceSource WriteSource(const std::string& name, const std::string& call) const {
        return MakeSource(StrCat("Conv_", GetDtypeName(out_.dtype()), "_", name),
                          "conv/device/conv.h", "ConvParams", StrCat(call, ">(p);"));
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
    int64_t positions_{1};
};

void Conv(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
          const Array& y) {
    Call call{kForward, w, x, y, x.ndim() - 2};
    ConvParams& p = call.p;
    p.groups = geometry.groups;
    p.m = w.shape()[0] / p.groups;
    p.n_outer = y.shape()[0];
    p.k_outer = w.shape()[1];
    p.a_group = p.m * w.strides()[0];
    p.a_row = w.strides()[0];
    p.a_outer = w.strides()[1];
    p.b_group = p.k_outer * x.strides()[1];
    p.b_n_outer = x.strides()[0];
    p.b_k_outer = x.strides()[1];
    call.SetAxes([&](int d) -> ConvAxis {
        const int i = d + 2;
        return {y.shape()[i],
                w.shape()[i],
                x.shape()[i],
                -geometry.pad[d],
                geometry.stride[d],
                geometry.dilate[d],
                1,
                w.strides()[i],
                x.strides()[i],
                0};
    });
    p.out_row = call.positions();
    p.out_group = p.m * p.out_row;
    p.out_outer = p.groups * p.out_group;
    call.Run(&b);
}
CX_CUDA_KERNEL(Conv)

void ConvInputGrad(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                   const Array& gx) {
    Call call{kInputGrad, w, gy, gx, gx.ndim() - 2};
    ConvParams& p = call.p;
    p.groups = geometry.groups;
    p.m = w.shape()[1];
    p.n_outer = gx.shape()[0];
    p.k_outer = w.shape()[0] / p.groups;
    p.a_group = p.k_outer * w.strides()[0];
    p.a_row = w.strides()[1];
    p.a_outer = w.strides()[0];
    p.b_group = p.k_outer * gy.strides()[1];
    p.b_n_outer = gy.strides()[0];
    p.b_k_outer = gy.strides()[1];
    call.SetAxes([&](int d) -> ConvAxis {
        const int i = d + 2;
        const int64_t stride = geometry.stride[d];
        const int64_t dilate = geometry.dilate[d];
        return {gx.shape()[i],
                w.shape()[i],
                gy.shape()[i],
                geometry.pad[d],
                stride,
                dilate,
                stride / std::gcd(stride, dilate),
                w.strides()[i],
                gy.strides()[i],
                0};
    });
    p.out_row = call.positions();
    p.out_group = p.m * p.out_row;
    p.out_outer = p.groups * p.out_group;
    call.Run(&b);
}
CX_CUDA_KERNEL(ConvInputGrad)

void ConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry,
                    const Array& gw) {
    Call call{kWeightGrad, gy, x, gw, gw.ndim() - 2};
    ConvParams& p = call.p;
    p.groups = geometry.groups;
    p.m = gw.shape()[0] / p.groups;
    p.n_outer = gw.shape()[1];
    p.k_outer = gy.shape()[0];
    p.a_group = p.m * gy.strides()[1];
    p.a_row = gy.strides()[1];
    p.a_outer = gy.strides()[0];
    p.b_group = p.n_outer * x.strides()[1];
    p.b_n_outer = x.strides()[1];
    p.b_k_outer = x.strides()[0];
    call.SetAxes([&](int d) -> ConvAxis {
        const int i = d + 2;
        return {gw.shape()[i],
                gy.shape()[i],
                x.shape()[i],
                -geometry.pad[d],
                geometry.dilate[d],
                geometry.stride[d],
                1,
                gy.strides()[i],
                x.strides()[i],
                0};
    });
    p.out_outer = call.positions();
    p.out_row = p.n_outer * p.out_outer;
    p.out_group = p.m * p.out_row;
    call.Run(nullptr);
}
CX_CUDA_KERNEL(ConvWeightGrad)

// The convolution of one channel by one window.
void SlidingProduct(const Array& x, const Array& w, int64_t before, const Array& out) {
    Call call{kForward, w, x, out, 1};
    ConvParams& p = call.p;
    p.m = p.n_outer = p.k_outer = 1;
    call.SetAxes([&](int) -> ConvAxis {
        return {out.shape()[0],
                w.shape()[0],
                x.shape()[0],
                -before,
                1,
                1,
                1,
                w.strides()[0],
                x.strides()[0],
                0};
    });
    p.out_row = p.out_group = p.out_outer = call.positions();
    call.Run(nullptr);
}
CX_CUDA_KERNEL(SlidingProduct)

}  // namespace
}  // namespace chainerx::cuda
