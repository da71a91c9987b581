// Normalizations, softmax and dropout.
#include <cmath>
#include <numeric>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/norm/normalization.h"
#include "chainerx/ops/norm/softmax.h"
#include "chainerx/ops/random/dropout.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// Axes from `first` on.
Axes AxesFrom(int64_t first, int8_t ndim) {
    Axes axes;
    for (auto i = static_cast<int8_t>(first); i < ndim; ++i) axes.push_back(i);
    return axes;
}

// One number per channel, against x.
Array PerChannel(const Array& a, const Array& x) {
    Shape shape = Shape::Filled(x.ndim(), 1);
    shape[1] = a.GetTotalSize();
    return Reshape(a, shape);
}

// Reduces all axes but channels.
Axes AllButChannels(const Array& x) {
    Axes axes{0};
    for (int8_t i = 2; i < x.ndim(); ++i) axes.push_back(i);
    return axes;
}

void CheckChannels(const Array& x, int64_t least) {
    if (x.ndim() < least) {
        throw DimensionError{"the input has shape ", x.shape(), ", expected at least ", least,
                             " dimensions"};
    }
}

Values BatchNormalization(const Call& call) {
    const Array x = call.X(0);
    const Array scale = call.X(1);
    const Array bias = call.X(2);
    const Array mean = call.X(3);
    const Array var = call.X(4);
    const double eps = call.Float("epsilon", 1e-5);
    CheckChannels(x, 2);
    const bool says_training = call.opset() >= 14  ? call.Int("training_mode", 0) != 0
                               : call.opset() >= 7 ? call.n_outputs() > 1
                                                   : call.Int("is_test", 0) == 0;
    const bool is_training = says_training && call.trains();
    const Axes axes = AllButChannels(x);
    if (!is_training) {
        Values outputs;
        if (scale.dtype() == x.dtype() && mean.dtype() == x.dtype()) {
            outputs.emplace_back(FixedBatchNorm(x, scale, bias, mean, var, eps, axes));
        } else {
            const Array y = (x - PerChannel(mean, x)) / Sqrt(PerChannel(var, x) + eps);
            outputs.emplace_back(
                AsType(y * PerChannel(scale, x) + PerChannel(bias, x), x.dtype(), false));
        }
        if (says_training) outputs.insert(outputs.end(), {mean, var});  // as they were
        return outputs;
    }
    const double momentum = call.Float("momentum", 0.9);
    const Array batch_mean = Mean(x, axes, true);
    const Array batch_var = Var(x, axes, true);
    const Array y =
        (x - batch_mean) / Sqrt(batch_var + eps) * PerChannel(scale, x) + PerChannel(bias, x);
    const auto running = [&](const Array& old, const Array& now) {
        const Array flat = Reshape(now, old.shape());
        return AsType(old * momentum + flat * (1 - momentum), old.dtype(), false);
    };
    const Array new_mean = running(mean, batch_mean);
    const Array new_var = running(var, batch_var);
    call.Update(3, new_mean.AsGradStopped());
    call.Update(4, new_var.AsGradStopped());
    return {AsType(y, x.dtype(), false), new_mean, new_var};
}

Array InstanceNormalization(const Call& call) {
    return InstanceNorm(call.X(0), call.X(1), call.X(2), call.Float("epsilon", 1e-5));
}

Values LayerNormalization(const Call& call) {
    const Array given = call.X(0);
    const int8_t first = call.Axis(call.Int("axis", -1), given.ndim());
    const Axes axes = AxesFrom(first, given.ndim());
    const double eps = call.Float("epsilon", 1e-5);
    const Array scale = call.X(1);
    const bool is_whole =
        scale.shape() == Shape(given.shape().begin() + first, given.shape().end());
    if (!call.Wants(1) && !call.Wants(2) && call.Has(2) && is_whole &&
        scale.dtype() == given.dtype() && call.X(2).shape() == scale.shape()) {
        return {LayerNorm(given, scale, call.X(2), eps, axes)};
    }
    // The stages before scale and bias are computed in float32 at least.
    const bool is_double = given.dtype() == Dtype::kFloat64;
    const Array x = is_double ? given : AsType(given, Dtype::kFloat32, false);
    const Array mean = Mean(x, axes, true);
    const Array centred = x - mean;
    const Array inv_std = Reciprocal(Sqrt(Mean(Square(centred), axes, true) + eps));
    Array y = AsType(centred * inv_std, given.dtype(), false) * scale;
    if (call.Has(2)) y = y + call.X(2);
    return {y, mean, inv_std};
}

Array RMSNormalization(const Call& call) {
    const Array given = call.X(0);
    const Axes axes = AxesFrom(call.Axis(call.Int("axis", -1), given.ndim()), given.ndim());
    const bool is_double = given.dtype() == Dtype::kFloat64;
    const Array x = is_double ? given : AsType(given, Dtype::kFloat32, false);
    const Array y = x / Sqrt(Mean(Square(x), axes, true) + call.Float("epsilon", 1e-5));
    return AsType(y, given.dtype(), false) * call.X(1);
}

Array GroupNormalization(const Call& call) {
    const Array x = call.X(0);
    CheckChannels(x, 2);
    const int64_t groups = call.Int("num_groups");
    const int64_t channels = x.shape()[1];
    if (groups < 1 || channels % groups != 0) {
        throw DimensionError{"num_groups is ", groups, ", which does not divide ", channels,
                             " channels"};
    }
    Array scale = call.X(1);
    Array bias = call.X(2);
    if (call.opset() < 21) {  // one number per group
        const auto spread = [&](const Array& a) {
            return Reshape(BroadcastTo(Reshape(a, {groups, 1}), Shape{groups, channels / groups}),
                           Shape{channels});
        };
        scale = spread(scale);
        bias = spread(bias);
    }
    const double eps = call.Float("epsilon", 1e-5);
    if (x.ndim() > 2) return GroupNorm(x, groups, scale, bias, eps);
    const Array y = GroupNorm(Reshape(x, {x.shape()[0], channels, 1}), groups, scale, bias, eps);
    return Reshape(y, x.shape());
}

Array LRN(const Call& call) {
    const Array x = call.X(0);
    CheckChannels(x, 2);
    const int64_t size = call.Int("size");
    if (size < 1) throw ValueError{"attribute size is ", size, ", expected at least 1"};
    const double alpha = call.Float("alpha", 1e-4) / static_cast<double>(size);
    const double beta = call.Float("beta", 0.75);
    const double bias = call.Float("bias", 1);
    if (size % 2 == 1) return LocalResponseNormalization(x, size, bias, alpha, beta);
    PadWidths widths(static_cast<size_t>(x.ndim()), {0, 0});
    widths[1] = {(size - 1) / 2, size - 1 - (size - 1) / 2};
    const Array squares = Pad(Square(x), widths);
    Array sum = Zeros(x.shape(), x.dtype(), x.device());
    for (int64_t i = 0; i < size; ++i) {
        sum = sum + squares.At({Slice{}, Slice{i, i + x.shape()[1]}});
    }
    return x / Power(sum * alpha + bias, beta);
}

Array MeanVarianceNormalization(const Call& call) {
    const Array x = call.X(0);
    std::vector<int64_t> list = call.IntList("axes");
    if (!call.HasAttribute("axes")) list = {0, 2, 3};
    const Axes axes = ToAxes(call, list, x.ndim());
    const Array centred = x - Mean(x, axes, true);
    return centred / (Sqrt(Mean(Square(centred), axes, true)) + 1e-9);
}

Array LpNormalization(const Call& call) {
    const Array x = call.X(0);
    const Axes axes{call.Axis(call.Int("axis", -1), x.ndim())};
    const int64_t p = call.Int("p", 2);
    if (p != 1 && p != 2) throw ValueError{"attribute p is ", p, ", expected 1 or 2"};
    const Array norm = p == 1 ? Sum(Absolute(x), axes, true) : Sqrt(Sum(Square(x), axes, true));
    // Where all is 0, it stays so.
    return x / (norm + AsType(norm == 0, x.dtype(), false));
}

// Before version 13 the input counts as a matrix: from the axis on, all is one.
template <Array (*kSoftmax)(const Array& x, const Axes& axes)>
Array Normalize(const Call& call) {
    const Array x = call.X(0);
    if (call.opset() >= 13) {
        return kSoftmax(x, Axes{call.Axis(call.Int("axis", -1), x.ndim())});
    }
    int64_t axis = call.Int("axis", 1);
    if (axis < 0) axis += x.ndim();
    int64_t rows = 1;
    for (int64_t i = 0; i < std::min<int64_t>(axis, x.ndim()); ++i) rows *= x.shape()[i];
    const int64_t columns = rows == 0 ? 0 : x.GetTotalSize() / rows;
    return Reshape(kSoftmax(Reshape(x, {rows, columns}), Axes{1}), x.shape());
}

Array HardmaxOf(const Array& x, const Axes& axes) {
    const Array first = ExpandDims(ArgMax(x, axes[0]), axes);
    Shape along = Shape::Filled(x.ndim(), 1);
    along[axes[0]] = x.shape()[axes[0]];
    const Array classes = Arange(Scalar{x.shape()[axes[0]]}, Dtype::kInt64, x.device());
    return AsType(Reshape(classes, along) == first, x.dtype());
}

Values Dropout(const Call& call) {
    const Array x = call.X(0);
    double ratio = 0.5;
    bool is_training = false;
    if (call.opset() >= 12) {
        if (call.Has(1)) ratio = call.DoubleAt(1);
        is_training = call.trains() && call.Has(2) && call.DoubleAt(2) != 0;
    }
    if (!is_training || ratio == 0) {
        if (!call.Wants(1)) return {x};
        const Dtype dtype = call.opset() >= 10 ? Dtype::kBool : x.dtype();
        return {x, Ones(x.shape(), dtype, x.device())};
    }
    if (!(ratio > 0 && ratio < 1)) {
        throw ValueError{"ratio is ", ratio, ", expected at least 0, less than 1"};
    }
    const Array kept = Dropout(Ones(x.shape(), x.dtype(), x.device()), ratio, call.Key());
    return {x * kept, kept != 0};
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(BatchNormalization, 6),
    {"Dropout", 6, kNewestOpset, &Run<Dropout>, false},
    CX_OPERATOR_SINCE(GroupNormalization, 18),
    {"Hardmax", 1, kNewestOpset, &Run<Normalize<HardmaxOf>>},
    CX_OPERATOR_SINCE(InstanceNormalization, 6),
    CX_OPERATOR_SINCE(LRN, 1),
    CX_OPERATOR_SINCE(LayerNormalization, 1),  // ONNX has it from 17 on, onnxruntime always
    {"LogSoftmax", 1, kNewestOpset, &Run<Normalize<LogSoftmax>>},
    CX_OPERATOR_SINCE(LpNormalization, 1),
    CX_OPERATOR_SINCE(MeanVarianceNormalization, 9),
    CX_OPERATOR_SINCE(RMSNormalization, 23),
    {"Softmax", 1, kNewestOpset, &Run<Normalize<Softmax>>},
};

}  // namespace

std::span<const Operator> NormOperators() { return kOperators; }

}  // namespace chainerx::onnx
