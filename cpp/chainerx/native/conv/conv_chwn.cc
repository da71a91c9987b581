#include "chainerx/native/conv/conv_chwn.h"

#include <algorithm>

#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

using internal::MakeView;

namespace {

// Returns the share of multiply-adds that do not fall on padding.
double ShareInside(const Shape& x, const Shape& w, const Shape& y, const ConvGeometry& geometry) {
    double share = 1;
    for (int8_t a = 0; a < x.ndim() - 2; ++a) {
        int64_t n = 0;
        const int64_t taps = w[a + 2];
        const int64_t out = y[a + 2];
        for (int64_t t = 0; t < taps; ++t) {
            // Output positions i with 0 <= i * stride + shift < length see the input.
            const int64_t shift = t * geometry.dilate[a] - geometry.pad[a];
            const int64_t stride = geometry.stride[a];
            const int64_t begin = shift < 0 ? CeilDiv(-shift, stride) : 0;
            const int64_t end = shift < x[a + 2] ? CeilDiv(x[a + 2] - shift, stride) : 0;
            n += std::max<int64_t>(std::min(end, out) - begin, 0);
        }
        share *= static_cast<double>(n) / (static_cast<double>(taps) * static_cast<double>(out));
    }
    return share;
}

}  // namespace

bool IsForBatchLast(const Shape& x, const Shape& w, const Shape& y, const ConvGeometry& geometry) {
    constexpr int64_t kLeastImages = 8;
    constexpr double kShare = 0.94;  // the rest pays for copying operands and results
    constexpr int64_t kLeastChannels = 16;
    return x.ndim() - 2 < kMaxSpatial && y[0] >= kLeastImages && w[1] >= kLeastChannels &&
           w[0] / geometry.groups >= kLeastChannels && y.GetTotalSize() != 0 &&
           ShareInside(x, w, y, geometry) < kShare;
}

Array BatchLast(const Array& x, int64_t begin, int64_t end) {
    const Array images = Images(x, begin, end);
    Shape shape = images.shape();
    Strides strides = images.strides();
    shape.push_back(end - begin);
    strides.push_back(images.strides()[0]);
    shape[0] = 1;
    return MakeView(images, shape, strides, images.raw_data());
}

Array WithPlainAxis(const Array& w) {
    Shape shape = w.shape();
    Strides strides = w.strides();
    shape.push_back(1);
    strides.push_back(w.GetItemSize());
    return MakeView(w, shape, strides, w.raw_data());
}

ConvGeometry WithPlainAxis(const ConvGeometry& geometry, int ndim) {
    ConvGeometry wide = geometry;
    wide.stride[ndim] = 1;
    wide.pad[ndim] = 0;
    wide.dilate[ndim] = 1;
    return wide;
}

}  // namespace chainerx::native
