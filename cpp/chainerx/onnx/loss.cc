// Losses.
#include <optional>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/norm/softmax.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// The negative numbers of x, classes on axis 1, at the labels, weighted and reduced.
Array LossAt(const Call& call, const Array& x, const Array& labels,
             const std::optional<Array>& weights) {
    if (x.ndim() < 2 || labels.ndim() != x.ndim() - 1) {
        throw DimensionError{"input and target have shapes ", x.shape(), " and ", labels.shape()};
    }
    Array t = labels;
    Array counts;  // the weight of each label; null if all are 1
    if (call.HasAttribute("ignore_index")) {
        const Array is_kept = t != call.Int("ignore_index");
        t = Where(is_kept, t, 0);
        counts = AsType(is_kept, x.dtype());
    }
    if (weights.has_value()) {
        const Array w = Take(*weights, t, 0, IndexBoundsMode::kRaise);
        counts = counts.is_null() ? w : counts * w;
    }
    // Classes last, and one row per label.
    const int64_t classes = x.shape()[1];
    const Array rows = Reshape(Moveaxis(x, Axes{1}, Axes{static_cast<int8_t>(x.ndim() - 1)}),
                               Shape{labels.GetTotalSize(), classes});
    const Array picked = SelectItem(rows, Reshape(t, Shape{labels.GetTotalSize()}));
    Array loss = Negative(Reshape(picked, labels.shape()));
    if (!counts.is_null()) loss = loss * counts;
    const std::string_view reduction = call.String("reduction", "mean");
    if (reduction == "none") return loss;
    if (reduction == "sum") return Sum(loss);
    if (reduction != "mean") {
        throw ValueError{"attribute reduction is \"", reduction, "\", expected none, sum or mean"};
    }
    return counts.is_null() ? Mean(loss) : Sum(loss) / Sum(counts);
}

Array NegativeLogLikelihoodLoss(const Call& call) {
    return LossAt(call, call.X(0), call.X(1), call.Maybe(2));
}

Values SoftmaxCrossEntropyLoss(const Call& call) {
    const Array log_prob = LogSoftmax(call.X(0), Axes{1});
    return {LossAt(call, log_prob, call.X(1), call.Maybe(2)), log_prob};
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(NegativeLogLikelihoodLoss, 12),
    CX_OPERATOR_SINCE(SoftmaxCrossEntropyLoss, 12),
};

}  // namespace

std::span<const Operator> LossOperators() { return kOperators; }

}  // namespace chainerx::onnx
