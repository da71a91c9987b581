// Sums, extremes, positions, order.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/reduce/reduction_options.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/ops/sort/sets.h"
#include "chainerx/ops/sort/sorting.h"

namespace chainerx::onnx {
namespace {

using Reduction = Array (*)(const Array& x, const OptionalAxes& axes, bool keepdims);

// The result has the dtype of the input; integers are computed in the dtype that the routine
// chooses.
template <Reduction kReduce>
Array Reduce(const Call& call) {
    const Array x = call.X(0);
    const bool has_axes = call.HasAttribute("axes") || call.Has(1);
    const std::vector<int64_t> values = has_axes ? IntsOf(call, "axes", 1) : std::vector<int64_t>{};
    OptionalAxes axes;
    if (!values.empty()) {
        axes = ToAxes(call, values, x.ndim());
    } else if (call.Int("noop_with_empty_axes", 0) != 0) {
        axes = Axes{};  // only what is done to each element
    }
    return AsType(kReduce(x, axes, call.Int("keepdims", 1) != 0), x.dtype(), false);
}

Array OfSum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Sum(x, axes, keepdims);
}
Array OfMean(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Mean(x, axes, keepdims);
}
Array OfProd(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Prod(x, axes, keepdims);
}
// The least of none is the greatest number, and the other way round.
template <bool kIsMax>
Array OfExtreme(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Dtype dtype = x.dtype();
    ExtremeOptions options{.keepdims = keepdims};
    if (x.GetTotalSize() == 0) {
        if (IsFloat(dtype)) {
            options.initial = kIsMax ? -INFINITY : INFINITY;
        } else if (IsBool(dtype)) {
            options.initial = !kIsMax;
        } else {
            options.initial = VisitInt(dtype, [&]<typename T>() {
                return Scalar{kIsMax ? std::numeric_limits<T>::min()
                                     : std::numeric_limits<T>::max()};
            });
        }
    }
    return kIsMax ? AMax(x, axes, options) : AMin(x, axes, options);
}
Array OfL1(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Sum(Absolute(x), axes, keepdims);
}
Array OfL2(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Sqrt(Sum(Square(x), axes, keepdims));
}
Array OfLogSum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Log(Sum(x, axes, keepdims));
}
Array OfLogSumExp(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return LogSumExp(x, axes, keepdims);
}
Array OfSumSquare(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return Sum(Square(x), axes, keepdims);
}

template <bool kIsMax>
Array ArgExtreme(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    const bool keepdims = call.Int("keepdims", 1) != 0;
    const auto find = [&](const Array& a) {
        return kIsMax ? ArgMax(a, axis, keepdims) : ArgMin(a, axis, keepdims);
    };
    if (call.Int("select_last_index", 0) == 0) return find(x);
    return x.shape()[axis] - 1 - find(Flip(x, Axes{axis}));
}

template <bool kIsSum>
Array Cumulate(const Call& call) {
    Array x = call.X(0);
    const int8_t axis = call.Axis(call.IntAt(1), x.ndim());
    const bool is_reverse = call.Int("reverse", 0) != 0;
    if (is_reverse) x = Flip(x, Axes{axis});
    Array y = kIsSum ? CumSum(x, axis, x.dtype()) : CumProd(x, axis, x.dtype());
    const int64_t length = x.shape()[axis];
    if (call.Int("exclusive", 0) != 0 && length > 0) {
        Shape first = x.shape();
        first[axis] = 1;
        const Array start = Full(first, kIsSum ? 0 : 1, x.dtype(), x.device());
        std::vector<ArrayIndex> items(static_cast<size_t>(x.ndim()), Slice{});
        items[static_cast<size_t>(axis)] = Slice{std::nullopt, length - 1};
        y = Concatenate(std::vector{start, y.At(items)}, axis);
    }
    return is_reverse ? Flip(y, Axes{axis}) : y;
}

Values TopK(const Call& call) {
    const Array x = call.X(0);
    const int64_t k = call.HasAttribute("k") ? call.Int("k") : call.IntAt(1);
    const int8_t axis = call.Axis(call.Int("axis", -1), x.ndim());
    auto [values, indices] = TopK(x, k, axis, call.Int("largest", 1) != 0, true);
    return {std::move(values), std::move(indices)};
}

Values Unique(const Call& call) {
    const Array x = call.X(0);
    UniqueOptions options{.indices = true, .inverse = true, .counts = true};
    if (call.HasAttribute("axis")) options.axis = call.Axis(call.Int("axis"), x.ndim());
    UniqueResult r = Unique(x, options);
    if (call.Int("sorted", 1) == 0) {  // in the order in which they come first
        const Array order = ArgSort(r.indices);
        const Array rank = ArgSort(order);
        r.values = Take(r.values, order, options.axis.value_or(0));
        r.indices = Take(r.indices, order, 0);
        r.counts = Take(r.counts, order, 0);
        r.inverse = Take(rank, r.inverse, 0);
    }
    return {r.values, r.indices, Ravel(r.inverse), r.counts};
}

#define CX_REDUCE(name, of) {name, 1, kNewestOpset, &Run<Reduce<of>>}
constexpr Operator kOperators[] = {
    {"ArgMax", 1, kNewestOpset, &Run<ArgExtreme<true>>},
    {"ArgMin", 1, kNewestOpset, &Run<ArgExtreme<false>>},
    {"CumProd", 26, kNewestOpset, &Run<Cumulate<false>>},
    {"CumSum", 11, kNewestOpset, &Run<Cumulate<true>>},
    CX_REDUCE("ReduceL1", OfL1),
    CX_REDUCE("ReduceL2", OfL2),
    CX_REDUCE("ReduceLogSum", OfLogSum),
    CX_REDUCE("ReduceLogSumExp", OfLogSumExp),
    CX_REDUCE("ReduceMax", OfExtreme<true>),
    CX_REDUCE("ReduceMean", OfMean),
    CX_REDUCE("ReduceMin", OfExtreme<false>),
    CX_REDUCE("ReduceProd", OfProd),
    CX_REDUCE("ReduceSum", OfSum),
    CX_REDUCE("ReduceSumSquare", OfSumSquare),
    CX_OPERATOR_SINCE(TopK, 1),
    CX_OPERATOR_SINCE(Unique, 11),
};
#undef CX_REDUCE

}  // namespace

std::span<const Operator> ReduceOperators() { return kOperators; }

}  // namespace chainerx::onnx
