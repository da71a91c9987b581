// Operators that gather and scatter.
#include <optional>
#include <string_view>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/choose.h"
#include "chainerx/ops/index/index_arrays.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

Array Gather(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    return Take(x, call.X(1), axis, IndexBoundsMode::kRaise);
}

// One item per axis of x: the indices on `axis`, and their own positions on the others.
std::vector<IndexItem> ItemsAlong(const Array& x, const Array& indices, int8_t axis) {
    if (indices.ndim() != x.ndim()) {
        throw DimensionError{"indices have shape ", indices.shape(), ", expected ",
                             int64_t{x.ndim()}, " dimensions"};
    }
    std::vector<Array> places = SparseIndices(indices.shape(), Dtype::kInt64, x.device());
    places[static_cast<size_t>(axis)] = indices;
    std::vector<IndexItem> items;
    for (Array& place : places) items.push_back({NewAxis{}, std::move(place)});
    return items;
}

Array GatherElements(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    return At(x, ItemsAlong(x, call.X(1), axis));
}

ScatterRule RuleOf(const Call& call) {
    const std::string_view name = call.String("reduction", "none");
    if (name == "none") return ScatterRule::kSet;
    if (name == "add") return ScatterRule::kAdd;
    if (name == "mul") return ScatterRule::kMultiply;
    if (name == "max") return ScatterRule::kMaximum;
    if (name == "min") return ScatterRule::kMinimum;
    throw ValueError{"attribute reduction is \"", name, "\", expected none, add, mul, max or min"};
}

Array ScatterElements(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    return IndexUpdate(x, ItemsAlong(x, call.X(1), axis), call.X(2), RuleOf(call));
}

// The items of indices whose last axis counts axes of x, after `batch` axes in front.
std::vector<IndexItem> ItemsOfTuples(const Array& x, const Array& indices, int64_t batch) {
    const int64_t n = indices.ndim() == 0 ? 0 : indices.shape().back();
    if (indices.ndim() == 0 || batch < 0 || batch >= indices.ndim() || batch + n > x.ndim()) {
        throw DimensionError{"indices have shape ",
                             indices.shape(),
                             ", which does not fit ",
                             x.shape(),
                             " with ",
                             batch,
                             " batch axes"};
    }
    std::vector<IndexItem> items;
    if (batch > 0) {
        Shape front{indices.shape().begin(), indices.shape().begin() + batch};
        for (Array& place : SparseIndices(front, Dtype::kInt64, x.device())) {
            Shape shape = place.shape();
            while (shape.size() < indices.ndim() - 1) shape.push_back(1);
            items.push_back({NewAxis{}, Reshape(place, shape)});
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        items.push_back({NewAxis{}, At(indices, std::vector<ArrayIndex>{Ellipsis{}, i})});
    }
    return items;
}

Array GatherND(const Call& call) {
    const Array x = call.X(0);
    return At(x, ItemsOfTuples(x, call.X(1), call.Int("batch_dims", 0)));
}

Array ScatterND(const Call& call) {
    const Array x = call.X(0);
    return IndexUpdate(x, ItemsOfTuples(x, call.X(1), 0), call.X(2), RuleOf(call));
}

// Writes an update along an axis, from a place on that each item of the batch has.
Array TensorScatter(const Call& call) {
    const Array x = call.X(0);
    const Array update = call.X(1);
    const int8_t axis = call.Axis(call.Int("axis", -2), x.ndim());
    const std::string_view mode = call.String("mode", "linear");
    if (mode != "linear" && mode != "circular") {
        throw ValueError{"attribute mode is \"", mode, "\", expected linear or circular"};
    }
    if (axis == 0 || update.ndim() != x.ndim() || update.shape()[axis] > x.shape()[axis]) {
        throw DimensionError{"past_cache and update have shapes ",
                             x.shape(),
                             " and ",
                             update.shape(),
                             " along axis ",
                             int64_t{axis}};
    }
    std::vector<Array> places = SparseIndices(update.shape(), Dtype::kInt64, x.device());
    if (call.Has(2)) {
        Shape batch = Shape::Filled(x.ndim(), 1);
        batch[0] = -1;
        Array& place = places[static_cast<size_t>(axis)];
        place = place + Reshape(call.X(2), batch);
        if (mode == "circular") place = Remainder(place, x.shape()[axis]);
    }
    std::vector<IndexItem> items;
    for (Array& place : places) items.push_back({NewAxis{}, std::move(place)});
    return IndexUpdate(x, items, update, ScatterRule::kSet);
}

Array NonZero(const Call& call) {
    const Array x = call.X(0);
    return Stack(Nonzero(x.ndim() == 0 ? Reshape(x, Shape{1}) : x), 0);
}

Array OneHot(const Call& call) {
    const Array indices = call.X(0);
    const std::vector<double> depths = call.Doubles(1);
    if (depths.size() != 1 || !(depths[0] >= 0 && depths[0] < 0x1p40)) {
        throw ValueError{"depth must be one number from 0"};
    }
    const auto depth = static_cast<int64_t>(depths[0]);
    const Array values = call.X(2);  // off and on
    if (values.shape().size() != 1 || values.shape()[0] != 2) {
        throw DimensionError{"values have shape ", values.shape(), ", expected (2,)"};
    }
    const int8_t axis = call.Axis(call.Int("axis", -1), static_cast<int8_t>(indices.ndim() + 1));
    const Array ids = AsType(indices, Dtype::kInt64, false);
    Shape along = Shape::Filled(indices.ndim() + 1, 1);
    along[axis] = depth;
    const Array classes = Reshape(Arange(Scalar{depth}, Dtype::kInt64, indices.device()), along);
    const Array is_on = ExpandDims(Where(ids < 0, ids + depth, ids), Axes{axis}) == classes;
    return Where(is_on, At(values, 1), At(values, 0));
}

Array Compress(const Call& call) {
    Array x = call.X(0);
    std::optional<int8_t> axis;
    if (call.HasAttribute("axis")) axis = call.Axis(call.Int("axis"), x.ndim());
    return Compress(call.X(1), x, axis);
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(Compress, 9),
    CX_OPERATOR_SINCE(Gather, 1),
    CX_OPERATOR_SINCE(GatherElements, 11),
    CX_OPERATOR_SINCE(GatherND, 11),
    CX_OPERATOR_SINCE(NonZero, 9),
    CX_OPERATOR_SINCE(OneHot, 9),
    {"Scatter", 9, 10, &Run<ScatterElements>},
    CX_OPERATOR_SINCE(ScatterElements, 11),
    CX_OPERATOR_SINCE(ScatterND, 11),
    CX_OPERATOR_SINCE(TensorScatter, 24),
};

}  // namespace

std::span<const Operator> IndexOperators() { return kOperators; }

}  // namespace chainerx::onnx
