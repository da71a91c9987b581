#include "chainerx/ops/conv/conv_columns.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// im2col: a matrix of all windows of some images, with a row per channel and window element, and a
// column per output position.
class Columns {
 public:
    // Takes the shapes of the arrays; holds as many images at a time as fit kMemory, at least one.
    Columns(const char* op, const Shape& x, const Shape& w, const Shape& y,
            const ConvGeometry& geometry, int64_t item_size)
        : groups{geometry.groups}, geometry_{geometry}, axes_{static_cast<int8_t>(x.ndim() - 2)} {
        for (int8_t i = 0; i < axes_; ++i) {
            in_.push_back(x[i + 2]);
            window_.push_back(w[i + 2]);
            out_.push_back(y[i + 2]);
        }
        taps_ = window_.GetTotalSize();
        outs = w[0] / groups;
        rows = w[1] * taps_;
        positions = out_.GetTotalSize();
        const int64_t image = CheckedNBytes(op, Shape{groups, rows, positions}, item_size);
        images = std::clamp<int64_t>(kMemory / image, 1, x[0]);
    }

    int64_t groups;
    int64_t outs;       // per group
    int64_t rows;       // per group
    int64_t positions;  // per image
    int64_t images;     // in one batch of columns

    // The axes of the columns: (images, groups, rows, positions), or with the images next to the
    // positions.
    enum class Order : int8_t { kImagesFirst, kImagesInside };

    // im2col: copies the windows of x, which may have any strides, into columns of `dtype`.
    Array Gather(const Array& x, Dtype dtype, Order order) const {
        const int64_t n = x.shape()[0];
        const Array columns =
            order == Order::kImagesFirst
                ? MakeImagesFirst(n, dtype, x.device())
                : EmptyUnchecked({groups, rows, n * positions}, dtype, x.device());
        CallOn<kernels::Fill>(x.device(), columns, Scalar{0});
        ForEachTap(x, columns, order, [&](const Array& part, const Array& row) {
            CallOn<kernels::AsType>(x.device(), part, row);
        });
        return columns;
    }
    // col2im: adds the windows to x.
    void Scatter(const Array& x, const Array& columns) const {
        ForEachTap(x, columns, Order::kImagesFirst, [&](const Array& part, const Array& row) {
            CallOn<kernels::Add>(x.device(), Operand{part}, Operand{row}, part);
        });
    }
    Array MakeImagesFirst(int64_t n, Dtype dtype, Device& device) const {
        return EmptyUnchecked({n, groups, rows, positions}, dtype, device);
    }

 private:
    static constexpr int64_t kMemory = int64_t{1} << 25;

    // For each window element, calls f with the part of x that it covers and with its row, as views
    // of one shape (images, channels, ...).
    void ForEachTap(const Array& x, const Array& columns, Order order, const auto& f) const {
        const int64_t n = x.shape()[0];
        const bool inside = order == Order::kImagesInside;
        const int64_t item = columns.GetItemSize();
        const int64_t row = positions * item * (inside ? n : 1);
        const int64_t image = inside ? positions * item : groups * rows * row;
        const Strides out_strides{out_, item};
        Shape tap(Shape::Filled(axes_, 0));
        for (int64_t t = 0; t < taps_; ++t) {
            Shape shape{n, x.shape()[1]};
            Strides from{x.strides()[0], x.strides()[1]};
            Strides to{image, taps_ * row};
            char* part = x.raw_data();
            char* out = columns.raw_data() + t * row;
            for (int8_t i = 0; i < axes_ && shape.back() != 0; ++i) {
                const int64_t stride = geometry_.stride[i];
                const int64_t first = tap[i] * geometry_.dilate[i] - geometry_.pad[i];
                const int64_t begin = first < 0 ? (-first + stride - 1) / stride : 0;
                const int64_t end =
                    first < in_[i] ? std::min((in_[i] - 1 - first) / stride + 1, out_[i]) : 0;
                shape.push_back(std::max<int64_t>(end - begin, 0));
                if (shape.back() == 0) break;
                part += (first + begin * stride) * x.strides()[i + 2];
                out += begin * out_strides[i];
                from.push_back(shape.back() == 1 ? 0 : x.strides()[i + 2] * stride);
                to.push_back(out_strides[i]);
            }
            if (shape.back() != 0)
                f(MakeView(x, shape, from, part), MakeView(columns, shape, to, out));
            for (int8_t i = axes_ - 1; i >= 0 && ++tap[i] == window_[i]; --i) tap[i] = 0;
        }
    }

    const ConvGeometry& geometry_;
    int8_t axes_;
    int64_t taps_;
    Shape in_;
    Shape window_;
    Shape out_;
};

Array Images(const Array& x, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[0] = end - begin;
    return MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[0]);
}

// Reshapes w to one matrix per group.
Array Weights(const Array& w, const Columns& c) {
    return Reshape(Detached(w), {c.groups, c.outs, c.rows});
}

// Reshapes y to one matrix per image and group.
Array Outputs(const Array& y, const Columns& c) {
    return Reshape(y, {y.shape()[0], c.groups, c.outs, c.positions});
}

Array ForImages(const Array& weights, int64_t images) {
    const Shape& s = weights.shape();
    return BroadcastTo(weights, {images, s[0], s[1], s[2]});
}

// Broadcasts b along the channels of y.
Array Bias(const Array& b, const Array& y) {
    Strides strides;
    strides.resize(y.ndim(), 0);
    strides[1] = b.strides()[0];
    return MakeView(b, y.shape(), strides, b.raw_data());
}

// The dtype in which several matrix products are accumulated.
Dtype SumDtype(Dtype dtype) {
    return IsFloat(dtype) && GetItemSize(dtype) < 4 ? Dtype::kFloat32 : dtype;
}

// Calls f(images of x, images of y).
void ForParts(const Array& x, const Array& y, int64_t images, const auto& f) {
    const int64_t n = x.shape()[0];
    for (int64_t begin = 0; begin < n; begin += images) {
        const int64_t end = std::min(begin + images, n);
        f(Images(x, begin, end), Images(y, begin, end));
    }
}

}  // namespace

void FillWithBias(const Array& b, const Array& y) {
    if (b.GetTotalSize() == 0) {
        CallOn<kernels::Fill>(y.device(), y, Scalar{0});
    } else {
        CallOn<kernels::AsType>(y.device(), Bias(b, y), y);
    }
}

void ConvByColumns(const char* op, const Array& x, const Array& w, const Array& b,
                   const ConvGeometry& geometry, const Array& y) {
    const Columns c{op, x.shape(), w.shape(), y.shape(), geometry, x.GetItemSize()};
    const Array weights = Weights(w, c);
    ForParts(x, y, c.images, [&](const Array& xs, const Array& ys) {
        const Array columns = c.Gather(xs, x.dtype(), Columns::Order::kImagesFirst);
        CallOn<kernels::Matmul>(x.device(), ForImages(weights, xs.shape()[0]), columns,
                                Outputs(ys, c));
    });
    if (b.GetTotalSize() == 0) return;
    const Array bias = Bias(b, y);
    CallOn<kernels::Add>(x.device(), Operand{y}, Operand{bias}, y);
}

void ConvInputGradByColumns(const char* op, const Array& gy, const Array& w, const Array& b,
                            const ConvGeometry& geometry, const Array& gx) {
    const Columns c{op, gx.shape(), w.shape(), gy.shape(), geometry, gy.GetItemSize()};
    const Dtype dtype = SumDtype(gx.dtype());
    const Array sum = dtype == gx.dtype() ? gx : EmptyUnchecked(gx.shape(), dtype, gx.device());
    FillWithBias(b, sum);
    const Array weights = Swapaxes(Weights(w, c), 1, 2);
    ForParts(sum, Detached(gy), c.images, [&](const Array& xs, const Array& ys) {
        const int64_t n = xs.shape()[0];
        const Array columns = c.MakeImagesFirst(n, gx.dtype(), gx.device());
        CallOn<kernels::Matmul>(gx.device(), ForImages(weights, n), Outputs(ys, c), columns);
        c.Scatter(xs, dtype == gx.dtype() ? columns : AsType(columns, dtype));
    });
    if (dtype != gx.dtype()) CallOn<kernels::AsType>(gx.device(), sum, gx);
}

void ConvWeightGradByColumns(const char* op, const Array& x, const Array& gy,
                             const ConvGeometry& geometry, const Array& gw) {
    const Dtype dtype = SumDtype(gw.dtype());
    const Columns c{op, x.shape(), gw.shape(), gy.shape(), geometry, GetItemSize(dtype)};
    const bool direct = dtype == gw.dtype();
    const Array sum =
        direct ? Weights(gw, c) : EmptyUnchecked({c.groups, c.outs, c.rows}, dtype, gw.device());
    bool first = true;
    ForParts(x, Detached(gy), c.images, [&](const Array& xs, const Array& ys) {
        const int64_t n = xs.shape()[0];
        const Array columns = c.Gather(xs, dtype, Columns::Order::kImagesInside);
        // (groups, outs, images, positions)
        const Array outputs = AsType(Transpose(Outputs(ys, c), Axes{1, 2, 0, 3}), dtype, false);
        const Array product = first ? sum : EmptyUnchecked(sum.shape(), dtype, sum.device());
        CallOn<kernels::Matmul>(gw.device(), Reshape(outputs, {c.groups, c.outs, n * c.positions}),
                                Swapaxes(columns, 1, 2), product);
        if (!first) CallOn<kernels::Add>(gw.device(), Operand{sum}, Operand{product}, sum);
        first = false;
    });
    if (!direct) CallOn<kernels::AsType>(gw.device(), Reshape(sum, gw.shape()), gw);
}

}  // namespace chainerx::internal
