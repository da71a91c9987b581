// Weight gradient of a convolution by implicit GEMM: prepares the operands of RunWeightConv from
// arrays.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/conv/conv_algorithms.h"
#include "chainerx/native/conv/conv_input.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/conv/conv_weight.h"

namespace chainerx::native {
namespace {

using internal::MakeView;

// Moves the channels behind the spatial axes.
Array ChannelsLast(const Array& x) {
    Shape shape = x.shape();
    Strides strides = x.strides();
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    std::rotate(strides.begin() + 1, strides.begin() + 2, strides.end());
    return MakeView(x, shape, strides, x.raw_data());
}

template <typename T>
typename WeightConv<T>::Columns ColumnsOf(const WeightConv<T>& conv) {
    using Columns = typename WeightConv<T>::Columns;
    bool is_plain = true;
    for (int a = 0; a < conv.ndim; ++a) {
        const ConvAxis& axis = conv.axes[a];
        is_plain =
            is_plain && axis.taps == 1 && axis.offset == 0 && axis.step == 1 && axis.in == axis.out;
    }
    if (is_plain) return Columns::kPlain;
    // Gathers along whichever is longer contiguously, channels or taps.
    const ConvAxis& last = conv.axes[conv.ndim - 1];
    constexpr int64_t kMaxChannels = 16;
    return conv.ins < kMaxChannels && conv.ins < last.taps && last.dilate == 1 ? Columns::kTaps
                                                                               : Columns::kChannels;
}

// Copies x as far as windows reach, zero-padded where they reach beyond it.
template <typename T>
Array WithMargins(const Array& x, const WeightConv<T>& conv, Dtype dtype) {
    Shape padded = x.shape();
    Shape shape = x.shape();
    int64_t from = 0;
    int64_t to = 0;
    for (int a = 0; a < conv.ndim; ++a) {
        const ConvAxis& axis = conv.axes[a];
        padded[a + 2] = (axis.out - 1) * axis.step + (axis.taps - 1) * axis.dilate + 1;
    }
    const Array y = EmptyUnchecked(padded, dtype, x.device());
    for (int a = 0; a < conv.ndim; ++a) {
        // Element i of x is element i - offset of y.
        const int64_t offset = conv.axes[a].offset;
        const int64_t begin = std::max<int64_t>(offset, 0);
        const int64_t end = std::min(shape[a + 2], padded[a + 2] + offset);
        shape[a + 2] = std::max<int64_t>(end - begin, 0);
        from += begin * x.strides()[a + 2];
        to += (begin - offset) * y.strides()[a + 2];
    }
    CallOn<kernels::Fill>(x.device(), y, Scalar{0});
    if (shape.GetTotalSize() == 0) return y;
    CallOn<kernels::AsType>(x.device(), MakeView(x, shape, x.strides(), x.raw_data() + from),
                            MakeView(y, shape, y.strides(), y.raw_data() + to));
    return y;
}

template <typename T>
void RunConvWeightGrad(const Array& x, const Array& gy, const ConvGeometry& geometry, Dtype dtype,
                       const Array& gw) {
    const int64_t item = GetItemSize(dtype);
    WeightConv<T> conv;
    conv.groups = geometry.groups;
    conv.outs = gw.shape()[0] / geometry.groups;
    conv.ins = gw.shape()[1];
    conv.ndim = gw.ndim() - 2;
    const Strides gy_strides{gy.shape(), 1};
    for (int a = 0; a < conv.ndim; ++a) {
        conv.axes[a].taps = gw.shape()[a + 2];
        conv.axes[a].y_stride = gy_strides[a + 2];
    }
    using Columns = typename WeightConv<T>::Columns;
    const Array whole = SetAxes(x, geometry, gy, &conv);
    conv.columns = ColumnsOf(conv);
    const Array seen = conv.columns == Columns::kChannels ? ChannelsLast(whole) : whole;

    // Taps come before channels until the end.
    const Array gw_last = conv.columns == Columns::kTaps ? gw : ChannelsLast(gw);
    const bool is_direct = gw.dtype() == dtype && gw_last.IsContiguous();
    const Array sum = is_direct ? gw_last : EmptyUnchecked(gw_last.shape(), dtype, gw.device());
    conv.gw = reinterpret_cast<T*>(sum.raw_data());

    // Handles a few images at a time, since both operands are copied.
    const int64_t n = x.shape()[0];
    const int64_t nbytes = (seen.GetTotalSize() + gy.GetTotalSize()) / n * item;
    const int64_t group = CountTogether(nbytes, n);
    for (int64_t begin = 0; begin < n; begin += group) {
        const int64_t end = std::min(n, begin + group);
        const Array images = Images(seen, begin, end);
        const Array xs = conv.columns == Columns::kTaps ? WithMargins(images, conv, dtype)
                                                        : AsContiguousOf(images, dtype);
        const Array gys = AsContiguousOf(Images(gy, begin, end), dtype);
        WeightConv<T> part = conv;
        part.batch = end - begin;
        part.accumulate = begin != 0;
        part.x = reinterpret_cast<const T*>(xs.raw_data());
        part.x_image = xs.strides()[0] / item;
        part.gy = reinterpret_cast<const T*>(gys.raw_data());
        part.gy_image = gys.strides()[0] / item;
        part.gy_channel = gys.strides()[1] / item;
        const bool is_last = conv.columns == Columns::kChannels;
        part.x_channel = is_last ? 1 : xs.strides()[1] / item;
        for (int a = 0; a < conv.ndim; ++a) {
            part.axes[a].x_stride = xs.strides()[a + (is_last ? 1 : 2)] / item;
        }
        if (conv.columns != Columns::kTaps) MergeAxes(&part);
        RunWeightConv(part);
    }
    if (!is_direct) CallOn<kernels::AsType>(gw.device(), sum, gw_last);
}

}  // namespace

void WeightGradImplicitGemm(const Array& x, const Array& gy, const ConvGeometry& geometry,
                            const Array& gw) {
    VisitConvDtype(gw.dtype(), [&]<typename T>(T, Dtype dtype) {
        RunConvWeightGrad<T>(x, gy, geometry, dtype, gw);
    });
}

}  // namespace chainerx::native
