// Direct convolution, its input gradient and its weight gradient: prepares the operands of
// RunDirectConv and RunDirectWeightGrad from arrays.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/conv/conv_algorithms.h"
#include "chainerx/native/conv/conv_direct.h"
#include "chainerx/native/conv/conv_input.h"
#include "chainerx/native/conv/conv_operands.h"

namespace chainerx::native {
namespace {

// Runs `conv`, whose axes are set, for all images of x, which is read as it is.
template <typename T>
void RunForImages(const ConvOperands<T>& conv, const Array& x, Dtype dtype, bool merges,
                  const Array& y) {
    ConvInput input{x, dtype, 1};
    InGroups(input, dtype, y, [&](int64_t begin, int64_t end, const Array& out) {
        ConvOperands<T> part = conv;
        part.batch = end - begin;
        part.y = reinterpret_cast<T*>(out.raw_data());
        input.Give(begin, end, &part);
        if (merges) MergeAxes(&part);
        RunDirectConv(part);
    });
}

template <typename T>
void RunForward(const Array& x, const Array& w0, const Array& b0, const ConvGeometry& geometry,
                const LayerOperands& layer, Dtype dtype, const Array& y) {
    const Array w = AsContiguousOf(w0, dtype);
    const Array b = AsContiguousOf(b0, dtype);
    ConvOperands<T> conv = MakeConv<T>(w, b, geometry.groups, y.strides(), y.GetItemSize(), true);
    conv.has_end = layer.addend == nullptr && !layer.limits.is_none();
    conv.limits = layer.limits;
    const Array seen = SetAxes(x, geometry, y, &conv);
    RunForImages(conv, seen, dtype, true, y);
    if (layer.addend != nullptr) FinishLayer(layer, y);
}

template <typename T>
void RunInputGrad(const Array& gy, const Array& w0, const Array& b0, const ConvGeometry& geometry,
                  Dtype dtype, const Array& gx) {
    const Array w = AsContiguousOf(w0, dtype);
    const Array b = AsContiguousOf(b0, dtype);
    ConvOperands<T> conv =
        MakeConv<T>(w, b, geometry.groups, gx.strides(), gx.GetItemSize(), false);
    for (int a = 0; a < conv.ndim; ++a) {
        ConvAxis& axis = conv.axes[a];
        axis.in = gy.shape()[a + 2];
        axis.out = gx.shape()[a + 2];
        axis.step = 1;
        axis.spread = geometry.stride[a];
        axis.offset = geometry.pad[a];
        axis.dilate = -geometry.dilate[a];
    }
    RunForImages(conv, gy, dtype, false, gx);
}

template <typename T>
void RunWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry, Dtype dtype,
                   const Array& gw) {
    const Array sum = gw.dtype() == dtype ? gw : EmptyUnchecked(gw.shape(), dtype, gw.device());
    const Array none = EmptyUnchecked(Shape{0}, dtype, gw.device());
    const Strides gy_strides{gy.shape(), 1};
    ConvOperands<T> conv = MakeConv<T>(sum, none, geometry.groups, gy_strides, 1, true);
    const Array seen = SetAxes(x, geometry, gy, &conv);
    const int64_t n = x.shape()[0];
    ConvInput input{seen, dtype, 1};
    const bool is_copied = input.is_copied() || gy.dtype() != dtype || !gy.IsContiguous();
    const int64_t nbytes = (seen.GetTotalSize() + gy.GetTotalSize()) / n * GetItemSize(dtype);
    const int64_t group = is_copied ? CountTogether(nbytes, n) : n;
    for (int64_t begin = 0; begin < n; begin += group) {
        const int64_t end = std::min(n, begin + group);
        const Array gys = AsContiguousOf(Images(gy, begin, end), dtype);
        ConvOperands<T> part = conv;
        part.batch = end - begin;
        part.y = reinterpret_cast<T*>(gys.raw_data());
        input.Give(begin, end, &part);
        RunDirectWeightGrad(part, reinterpret_cast<T*>(sum.raw_data()), begin != 0);
    }
    if (gw.dtype() != dtype) CallOn<kernels::AsType>(gw.device(), sum, gw);
}

}  // namespace

void ConvDirect(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
                const LayerOperands& layer, const Array& y) {
    VisitConvDtype(y.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunForward<T>(x, w, b, geometry, layer, dtype, y);
    });
}

void InputGradDirect(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                     const Array& gx) {
    VisitConvDtype(gx.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunInputGrad<T>(gy, w, b, geometry, dtype, gx);
    });
}

void WeightGradDirect(const Array& x, const Array& gy, const ConvGeometry& geometry,
                      const Array& gw) {
    VisitConvDtype(gw.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunWeightGrad<T>(x, gy, geometry, dtype, gw);
    });
}

}  // namespace chainerx::native
