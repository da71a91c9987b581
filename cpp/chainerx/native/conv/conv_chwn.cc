// Convolution of many small images in CHWN layout (batch innermost): the columns of a panel are one
// output position of many images, so a tap that falls on padding does so for the whole panel and is
// skipped. The convolution sees one image with an extra spatial axis.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/conv/conv_algorithms.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {
namespace {

using internal::MakeView;

// Returns x[begin:end] in CHWN layout, as one image with an extra axis.
Array AsChwn(const Array& x, int64_t begin, int64_t end) {
    const Array images = Images(x, begin, end);
    Shape shape = images.shape();
    Strides strides = images.strides();
    shape.push_back(end - begin);
    strides.push_back(images.strides()[0]);
    shape[0] = 1;
    return MakeView(images, shape, strides, images.raw_data());
}

// Appends a spatial axis of one tap, stride 1 and no padding to weights, or to the geometry of
// `ndim` axes.
Array AppendAxis(const Array& w) {
    Shape shape = w.shape();
    Strides strides = w.strides();
    shape.push_back(1);
    strides.push_back(w.GetItemSize());
    return MakeView(w, shape, strides, w.raw_data());
}

ConvGeometry AppendAxis(const ConvGeometry& geometry, int ndim) {
    ConvGeometry wide = geometry;
    wide.stride[ndim] = 1;
    wide.pad[ndim] = 0;
    wide.dilate[ndim] = 1;
    return wide;
}

// Calls run(x, w, geometry, y) for a few images at a time.
void RunAsChwn(const Array& x, const Array& w, const ConvGeometry& geometry, const Array& y,
               const auto& run) {
    const Dtype dtype = ConvDtypeOf(y.dtype());
    const Array wide_w = AppendAxis(w);
    const ConvGeometry wide = AppendAxis(geometry, x.ndim() - 2);
    const int64_t n = y.shape()[0];
    constexpr int64_t kTogether = 32;
    const int64_t nbytes = (x.GetTotalSize() + y.GetTotalSize()) / n * GetItemSize(dtype);
    const int64_t group = CeilDiv(CountTogether(nbytes, n), kTogether) * kTogether;
    for (int64_t begin = 0; begin < n; begin += group) {
        const int64_t end = std::min(n, begin + group);
        const Array out = AsChwn(y, begin, end);
        const Array computed = EmptyConflictFree(out.shape(), dtype, y.device());
        run(AsChwn(x, begin, end), wide_w, wide, computed);
        CallOn<kernels::AsType>(y.device(), computed, out);
    }
    internal::NoteAlgorithm("chwn");  // whatever the product noted
}

}  // namespace

void ConvChwn(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
              const LayerOperands& layer, const Array& y) {
    // The addend has another layout than what is computed.
    LayerOperands within{nullptr, {}, layer.kept};
    if (layer.addend == nullptr) within.limits = layer.limits;
    RunAsChwn(x, w, geometry, y,
              [&](const Array& xs, const Array& ws, const ConvGeometry& wide, const Array& ys) {
                  ConvImplicitGemm(xs, ws, b, wide, within, ys);
              });
    if (layer.addend != nullptr) FinishLayer(layer, y);
}

void InputGradChwn(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                   const Array& gx) {
    RunAsChwn(gy, w, geometry, gx,
              [&](const Array& xs, const Array& ws, const ConvGeometry& wide, const Array& ys) {
                  InputGradImplicitGemm(xs, ws, b, wide, ys);
              });
}

void WeightGradChwn(const Array& x, const Array& gy, const ConvGeometry& geometry,
                    const Array& gw) {
    // Handles all images at once: the sum is over all of them, and both operands are copied anyway.
    const int64_t n = x.shape()[0];
    WeightGradImplicitGemm(AsChwn(x, 0, n), AsChwn(gy, 0, n), AppendAxis(geometry, x.ndim() - 2),
                           AppendAxis(gw));
}

}  // namespace chainerx::native
