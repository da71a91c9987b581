// Linear models and what prepares their inputs: of the domain ai.onnx.ml. Trees and support vectors
// are not here: they have no gradients, and attributes that are read anew in each run.
#include <cmath>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/elementwise/tables/numeric.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/norm/softmax.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// (rows, features) of float32; a vector is one row.
Array Samples(const Call& call) {
    const Array x = AsType(call.X(0), Dtype::kFloat32, false);
    if (x.ndim() == 1) return Reshape(x, Shape{1, -1});
    if (x.ndim() != 2) {
        throw DimensionError{"X has shape ", x.shape(), ", expected (rows, features)"};
    }
    return x;
}

Array FloatsOf(const Call& call, const char* name, const Shape& shape) {
    const std::vector<float> values = call.FloatList(name);
    if (static_cast<int64_t>(values.size()) != shape.GetTotalSize()) {
        throw DimensionError{
            "attribute ",        name, " has ", values.size(), " elements, expected ",
            shape.GetTotalSize()};
    }
    return Array::FromHost(values, shape, call.device());
}

// x times the coefficients, of which there are `n` rows, and the intercepts.
Array Scores(const Call& call, int64_t n) {
    const Array x = Samples(call);
    const Array w = FloatsOf(call, "coefficients", Shape{n, x.shape()[1]});
    if (call.FloatList("intercepts").empty()) return Matmul(x, Transpose(w));
    return Linear(x, w, FloatsOf(call, "intercepts", Shape{n}));
}

Array Transformed(const Call& call, const Array& scores) {
    const std::string_view name = call.String("post_transform", "NONE");
    if (name == "NONE") return scores;
    if (name == "LOGISTIC") return Sigmoid(scores);
    if (name == "SOFTMAX") return Softmax(scores, Axes{1});
    if (name == "SOFTMAX_ZERO") {  // zeros stay, and count for nothing
        const Array is_zero = scores == 0;
        const Array y = Softmax(Where(is_zero, Scalar{-INFINITY}, scores), Axes{1});
        return Where(is_zero, 0, y);
    }
    throw NotImplementedError{"attribute post_transform is \"", name,
                              "\", expected NONE, LOGISTIC, SOFTMAX or SOFTMAX_ZERO"};
}

Array LinearRegressor(const Call& call) {
    return Transformed(call, Scores(call, call.Int("targets", 1)));
}

Values LinearClassifier(const Call& call) {
    const std::vector<int64_t> labels = call.IntList("classlabels_ints");
    if (labels.empty()) {
        throw NotImplementedError{"the classes are strings, expected attribute classlabels_ints"};
    }
    const auto n = static_cast<int64_t>(labels.size());
    const Array names = Array::FromHost(labels, Shape{n}, call.device());
    const auto features = Samples(call).shape()[1];
    const auto n_coefficients = static_cast<int64_t>(call.FloatList("coefficients").size());
    if (n == 2 && n_coefficients == features) {  // one row, of the second class
        const Array s = Scores(call, 1);
        const bool is_logistic = call.String("post_transform", "NONE") == "LOGISTIC";
        const Array second = is_logistic ? Sigmoid(s) : s;
        const Array first = is_logistic ? Sigmoid(Negative(s)) : 1 - s;
        const Array place = AsType(Reshape(s, Shape{-1}) > 0, Dtype::kInt64);
        return {Take(names, place, 0), Concatenate(std::vector<Array>{first, second}, 1)};
    }
    const Array scores = Scores(call, n);
    return {Take(names, ArgMax(scores, 1), 0), Transformed(call, scores)};
}

Array Scaler(const Call& call) {
    const Array x = AsType(call.X(0), Dtype::kFloat32, false);
    const auto read = [&](const char* name) {
        const auto n = static_cast<int64_t>(call.FloatList(name).size());
        if (n != 1 && (x.ndim() == 0 || n != x.shape().back())) {
            throw DimensionError{"attribute ", name, " has ", n, " elements, but X has shape ",
                                 x.shape()};
        }
        return FloatsOf(call, name, Shape{n});
    };
    return (x - read("offset")) * read("scale");
}

// Rows whose norm is 0 stay as they are.
Array Normalizer(const Call& call) {
    const Array x = Samples(call);
    const std::string_view name = call.String("norm", "MAX");
    const Axes rows{1};
    const Array norm = name == "MAX"  ? AMax(x, rows, true)
                       : name == "L1" ? Sum(Absolute(x), rows, true)
                       : name == "L2" ? Sqrt(Sum(Square(x), rows, true))
                                      : Array{};
    if (norm.is_null()) {
        throw ValueError{"attribute norm is \"", name, "\", expected MAX, L1 or L2"};
    }
    return Reshape(x / Where(norm == 0, 1, norm), call.X(0).shape());
}

Array Imputer(const Call& call) {
    const Array x = call.X(0);
    const bool is_int = IsInt(x.dtype());
    const auto fill = [&](const auto& values, const char* name) {
        const auto n = static_cast<int64_t>(values.size());
        if (n != 1 && (x.ndim() == 0 || n != x.shape().back())) {
            throw DimensionError{"attribute ", name, " has ", n, " elements, but X has shape ",
                                 x.shape()};
        }
        return AsType(Array::FromHost(values, Shape{n}, x.device()), x.dtype(), false);
    };
    if (is_int) {
        const Array values = fill(call.IntList("imputed_value_int64s"), "imputed_value_int64s");
        return Where(x == call.Int("replaced_value_int64", 0), values, x);
    }
    const Array values = fill(call.FloatList("imputed_value_floats"), "imputed_value_floats");
    const double replaced = call.Float("replaced_value_float", 0);
    return Where(std::isnan(replaced) ? Isnan(x) : x == replaced, values, x);
}

// Elements of the last axis.
Array ArrayFeatureExtractor(const Call& call) {
    const Array x = call.X(0);
    const Array indices = Ravel(call.X(1));
    const Array y = Take(x, indices, static_cast<int8_t>(x.ndim() - 1), IndexBoundsMode::kRaise);
    return x.ndim() == 1 ? Reshape(y, Shape{1, y.shape()[0]}) : y;
}

Array Binarizer(const Call& call) {
    const Array x = call.X(0);
    return AsType(x > call.Float("threshold", 0), x.dtype());
}

#define CX_CLASSICAL(name) Operator{#name, 1, kNewestOpset, &Run<name>, true, "ai.onnx.ml"}

constexpr Operator kOperators[] = {
    CX_CLASSICAL(ArrayFeatureExtractor),
    CX_CLASSICAL(Binarizer),
    CX_CLASSICAL(Imputer),
    CX_CLASSICAL(LinearClassifier),
    CX_CLASSICAL(LinearRegressor),
    CX_CLASSICAL(Normalizer),
    CX_CLASSICAL(Scaler),
};
#undef CX_CLASSICAL

}  // namespace

std::span<const Operator> ClassicalOperators() { return kOperators; }

}  // namespace chainerx::onnx
