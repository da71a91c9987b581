// Pooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/quantize.h"
#include "chainerx/onnx/windows.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/pool/pooling.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// x with its pads, and room for windows that begin within it, and views of it that hold one
// element of each window.
class Taps {
 public:
    Taps(const Array& x, const Windows& w, const Scalar& pad) : Taps{x, w, pad, OutputsOf(x, w)} {}
    Taps(const Array& x, const Windows& w, const Scalar& pad, const Shape& outputs)
        : w_{w}, outputs_{outputs} {
        PadWidths widths(2, {0, 0});
        for (int8_t i = 0; i < w.size.size(); ++i) {
            const int64_t needed = (outputs[i] - 1) * w.stride[i] + w.Extent(i);
            widths.emplace_back(w.before[i],
                                std::max<int64_t>(needed - x.shape()[i + 2] - w.before[i], 0));
        }
        padded_ = Pad(x, widths, PadMode::kConstant, pad);
    }

    static Shape OutputsOf(const Array& x, const Windows& w) {
        Shape outputs;
        for (int8_t i = 0; i < w.size.size(); ++i) {
            outputs.push_back(w.OutputLength(i, x.shape()[i + 2]));
            if (outputs[i] < 1) {
                throw DimensionError{"windows of shape ", w.size, " are larger than the input of ",
                                     x.shape()};
            }
        }
        return outputs;
    }

    int64_t count() const { return w_.size.GetTotalSize(); }

    // Element `tap` of each window, counted in C order.
    Array At(int64_t tap) const {
        std::vector<ArrayIndex> items(2, Slice{});
        Shape place = w_.size;
        for (int64_t i = w_.size.size(); i-- > 0;) {
            place[i] = tap % w_.size[i];
            tap /= w_.size[i];
        }
        for (int8_t i = 0; i < w_.size.size(); ++i) {
            const int64_t start = place[i] * w_.dilation[i];
            items.emplace_back(
                Slice{start, start + (outputs_[i] - 1) * w_.stride[i] + 1, w_.stride[i]});
        }
        return padded_.At(items);
    }

 private:
    const Windows& w_;
    Shape outputs_;
    Array padded_;
};

Scalar Lowest(Dtype dtype) {
    if (IsFloat(dtype)) return -INFINITY;
    return VisitInt(dtype, []<typename T>() { return Scalar{std::numeric_limits<T>::min()}; });
}

// Numbers the elements of each channel, in C order or with the first spatial axis fastest; all of
// the batch follow each other.
Array Positions(const Array& x, bool first_is_fastest) {
    if (!first_is_fastest) {
        return Reshape(Arange(Scalar{x.GetTotalSize()}, Dtype::kInt64, x.device()), x.shape());
    }
    Shape reversed{x.shape()[0], x.shape()[1]};
    Axes axes{0, 1};
    for (int8_t i = x.ndim() - 1; i >= 2; --i) {
        reversed.push_back(x.shape()[i]);
        axes.push_back(i);
    }
    return Transpose(Reshape(Arange(Scalar{x.GetTotalSize()}, Dtype::kInt64, x.device()), reversed),
                     axes);
}

bool IsPlain(const Windows& w) {
    return !w.is_ceil && w.dilation == Shape::Filled(w.dilation.size(), 1);
}

Values MaxPool(const Call& call) {
    const Array x = call.X(0);
    const Windows w = ReadWindows(call, x.shape(), KernelShape(call, x.shape()));
    if (!call.Wants(1) && IsPlain(w) && IsFloat(x.dtype())) {
        return {MaxPool(x, w.size, PerAxis{w.stride}, AxisPads{w.before, w.after})};
    }
    const Taps taps{x, w, Lowest(x.dtype())};
    Array y = taps.At(0);
    if (!call.Wants(1)) {
        for (int64_t i = 1; i < taps.count(); ++i) y = Maximum(y, taps.At(i));
        return {y};
    }
    const Taps places{Positions(x, call.Int("storage_order", 0) != 0), w, -1};
    Array place = places.At(0);
    for (int64_t i = 1; i < taps.count(); ++i) {
        const Array other = taps.At(i);
        const Array other_place = places.At(i);
        // A pad is never the place of a maximum.
        const Array is_larger = LogicalOr(other > y, LogicalAnd(place < 0, other_place >= 0));
        place = Where(is_larger, other_place, place);
        y = Maximum(y, other);
    }
    return {y, place};
}

Array AveragePoolOf(const Call& call, const Array& x) {
    const Windows w = ReadWindows(call, x.shape(), KernelShape(call, x.shape()));
    const bool counts_pads = call.Int("count_include_pad", 0) != 0;
    if (IsPlain(w)) {
        return AveragePool(x, w.size, PerAxis{w.stride}, AxisPads{w.before, w.after},
                           counts_pads ? AveragePoolPadMode::kZero : AveragePoolPadMode::kIgnore);
    }
    Windows inner = w;
    Array ones = Ones(x.shape(), x.dtype(), x.device());
    if (counts_pads) {  // pads count, but not what is behind them
        PadWidths widths(2, {0, 0});
        for (int8_t i = 0; i < w.size.size(); ++i) widths.emplace_back(w.before[i], w.after[i]);
        ones = Pad(ones, widths, PadMode::kConstant, 1);
        inner.before = Shape::Filled(w.size.size(), 0);
        inner.after = inner.before;
    }
    const Taps taps{x, w, 0};
    const Taps counts{ones, inner, 0, Taps::OutputsOf(x, w)};
    Array sum = taps.At(0);
    Array count = counts.At(0);
    for (int64_t i = 1; i < taps.count(); ++i) {
        sum = sum + taps.At(i);
        count = count + counts.At(i);
    }
    return sum / count;
}

Array AveragePool(const Call& call) { return AveragePoolOf(call, call.X(0)); }

// Inputs: x and y, each with scale and zero point.
Array QLinearAveragePool(const Call& call) {
    if (call.Int("channels_last", 0) != 0) {
        throw NotImplementedError{"attribute channels_last is not supported"};
    }
    const Array x = call.X(0);
    const auto one = [&call](size_t i) { return ToFloat(Reshape(call.X(i), Shape{})); };
    Array y = AveragePoolOf(call, (call.Has(2) ? ToFloat(x) - one(2) : ToFloat(x)) * one(1));
    y = Rint(y / one(3));
    return Saturated(call.Has(4) ? y + one(4) : y, x.dtype());
}

Array LpPool(const Call& call) {
    const Array x = call.X(0);
    const Windows w = ReadWindows(call, x.shape(), KernelShape(call, x.shape()));
    const auto p = static_cast<double>(call.Int("p", 2));
    const Taps taps{Power(Absolute(x), p), w, 0};
    Array sum = taps.At(0);
    for (int64_t i = 1; i < taps.count(); ++i) sum = sum + taps.At(i);
    return Power(sum, 1 / p);
}

OptionalAxes SpatialAxes(const Array& x) {
    Axes axes;
    for (int8_t i = 2; i < x.ndim(); ++i) axes.push_back(i);
    return axes;
}

Array GlobalAveragePool(const Call& call) {
    const Array x = call.X(0);
    return Mean(x, SpatialAxes(x), true);
}
Array GlobalMaxPool(const Call& call) {
    const Array x = call.X(0);
    return AMax(x, SpatialAxes(x), true);
}
Array GlobalLpPool(const Call& call) {
    const Array x = call.X(0);
    const auto p = static_cast<double>(call.Int("p", 2));
    return Power(Sum(Power(Absolute(x), p), SpatialAxes(x), true), 1 / p);
}

Array MaxUnpool(const Call& call) {
    const Array x = call.X(0);
    const Windows w = ReadWindows(call, x.shape(), KernelShape(call, x.shape()));
    Shape natural{x.shape()[0], x.shape()[1]};
    for (int8_t i = 0; i < w.size.size(); ++i) {
        natural.push_back((x.shape()[i + 2] - 1) * w.stride[i] + w.size[i] - w.before[i] -
                          w.after[i]);
    }
    const Array indices = Reshape(call.X(1), Shape{-1});
    const auto place = [&](const Shape& shape) {
        const Array flat = Zeros(Shape{shape.GetTotalSize()}, x.dtype(), x.device());
        const std::vector<IndexItem> items{{NewAxis{}, indices}};
        return Reshape(IndexUpdate(flat, items, Reshape(x, Shape{-1}), ScatterRule::kSet), shape);
    };
    Array y = place(natural);  // the indices count in the shape that was pooled
    if (!call.Has(2)) return y;
    const Shape shape = ToShape(call.Ints(2));
    if (shape.size() != natural.size()) {
        throw DimensionError{"output_shape is ", shape, ", expected ", natural.size(),
                             " dimensions"};
    }
    PadWidths widths;
    for (int64_t i = 0; i < shape.size(); ++i) {
        if (shape[i] < natural[i]) {
            throw DimensionError{"output_shape is ", shape, ", expected at least ", natural};
        }
        widths.emplace_back(0, shape[i] - natural[i]);
    }
    return Pad(y, widths);
}

constexpr Operator kOperators[] = {
    {"QLinearAveragePool", 1, kNewestOpset, &Run<QLinearAveragePool>, true, kMicrosoft},
    CX_OPERATOR_SINCE(AveragePool, 1),
    CX_OPERATOR_SINCE(GlobalAveragePool, 1),
    CX_OPERATOR_SINCE(GlobalLpPool, 2),
    CX_OPERATOR_SINCE(GlobalMaxPool, 1),
    CX_OPERATOR_SINCE(LpPool, 2),
    CX_OPERATOR_SINCE(MaxPool, 1),
    CX_OPERATOR_SINCE(MaxUnpool, 9),
};

}  // namespace

std::span<const Operator> PoolOperators() { return kOperators; }

}  // namespace chainerx::onnx
