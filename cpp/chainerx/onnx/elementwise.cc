// Operators on single elements.
#include <limits>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/composed_math.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

Array Celu(const Array& x, double alpha) { return Elu(x / alpha, 1.0) * alpha; }

Array HardSigmoid(const Array& x, double alpha, double beta) {
    return Clip(x * alpha + beta, 0, 1);
}

Array HardSwish(const Array& x) { return x * HardSigmoid(x, 1.0 / 6, 0.5); }

Array Swish(const Array& x, double alpha) { return x * Sigmoid(x * alpha); }

Array SwiGlu(const Array& x1, const Array& x2, double alpha) {
    if (!(x1.shape() == x2.shape())) {
        throw DimensionError{"A and B have shapes ", x1.shape(), " and ", x2.shape(),
                             ", expected the same"};
    }
    return Swish(x1, alpha) * x2;
}

// The standard's defaults, which are floats.
constexpr double kSeluAlpha = 1.67326319217681884765625;
constexpr double kSeluGamma = 1.05070102214813232421875;

Array Selu(const Array& x, double alpha, double gamma) { return Elu(x, alpha) * gamma; }

Array Shrink(const Array& x, double lambda, double bias) {
    const Array y = AsType(Where(x > lambda, x - bias, 0), x.dtype(), false);
    return Where(x < -lambda, AsType(x + bias, x.dtype(), false), y);
}

GeluApproximation ApproximationOf(const Call& call) {
    const std::string_view name = call.String("approximate", "none");
    if (name == "none") return GeluApproximation::kNone;
    if (name == "tanh") return GeluApproximation::kTanh;
    throw ValueError{"attribute approximate is \"", name, "\", expected none or tanh"};
}

bool IsLeft(const Call& call) {
    const std::string_view direction = call.String("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") {
        throw ValueError{"attribute direction is \"", direction, "\", expected LEFT or RIGHT"};
    }
    return direction == "LEFT";
}

// Integers are divided towards 0.
Array Quotient(const Array& x1, const Array& x2) {
    if (!IsInt(x1.dtype())) return Divide(x1, x2);
    return FloorDivide(x1 - Fmod(x1, x2), x2);
}

Array Slope(const Call& call, const Array& x, Array slope) {
    if (call.opset() < 7 && slope.ndim() == 1 && x.ndim() > 1) {  // one per channel
        Shape shape = Shape::Filled(x.ndim(), 1);
        shape[1] = slope.shape()[0];
        slope = Reshape(slope, shape);
    }
    return IsFloat(x.dtype()) ? Prelu(x, slope) : Where(x >= 0, x, x * slope);
}

// Before version 7 the attribute axis said where the axes of x2 lie in x1.
Array SecondOf(const Call& call, const Array& x1) {
    const Array x2 = call.X(1);
    if (call.opset() >= 7 || call.Int("broadcast", 0) == 0 || !call.HasAttribute("axis")) return x2;
    const int64_t axis = call.Axis(call.Int("axis"), x1.ndim());
    Shape shape = x2.shape();
    while (shape.size() < x1.ndim() - axis) shape.push_back(1);
    return Reshape(x2, shape);
}

#define CX_ONNX_UNARY(Name, since, y)                        \
    Array Compute##Name([[maybe_unused]] const Call& call) { \
        const Array x = call.X(0);                           \
        return y;                                            \
    }
#define CX_ONNX_BINARY(Name, since, y)                       \
    Array Compute##Name([[maybe_unused]] const Call& call) { \
        const Array x1 = call.X(0);                          \
        const Array x2 = SecondOf(call, x1);                 \
        return y;                                            \
    }
#include "chainerx/onnx/elementwise.def"
#undef CX_ONNX_UNARY
#undef CX_ONNX_BINARY

template <Array (*kCombine)(const Array&, const Array&)>
Array Fold(const Call& call) {
    Array y = call.X(0);
    for (size_t i = 1; i < call.n_inputs(); ++i) y = kCombine(y, call.X(i));
    return y;
}

Array AddTwo(const Array& x1, const Array& x2) { return Add(x1, x2); }
Array MaximumOfTwo(const Array& x1, const Array& x2) { return Maximum(x1, x2); }
Array MinimumOfTwo(const Array& x1, const Array& x2) { return Minimum(x1, x2); }

Array Mean(const Call& call) { return Fold<AddTwo>(call) / static_cast<double>(call.n_inputs()); }

Array IsInf(const Call& call) {
    const Array x = call.X(0);
    const bool negative = call.Int("detect_negative", 1) != 0;
    const bool positive = call.Int("detect_positive", 1) != 0;
    if (negative && positive) return Isinf(x);
    if (negative) return Isneginf(x);
    return positive ? Isposinf(x) : Zeros(x.shape(), Dtype::kBool, x.device());
}

Array Clip(const Call& call) {
    Array x = call.X(0);
    if (call.opset() < 11) {
        constexpr double kMost = std::numeric_limits<float>::max();
        return chainerx::Clip(x, Scalar{call.Float("min", -kMost)},
                              Scalar{call.Float("max", kMost)});
    }
    if (call.Has(1)) x = Maximum(x, call.X(1));
    return call.Has(2) ? Minimum(x, call.X(2)) : x;
}

Array Cast(const Call& call) {
    return AsType(call.X(0), ToDtype(call.Int("to"), "attribute to"), false);
}

Array CastLike(const Call& call) { return AsType(call.X(0), call.X(1).dtype(), false); }

Array BitCast(const Call& call) {
    const Array x = call.X(0);
    const Dtype dtype = ToDtype(call.Int("to"), "attribute to");
    if (GetItemSize(dtype) != x.GetItemSize()) {
        throw DtypeError{"attribute to is ", dtype, ", whose size is not that of ", x.dtype()};
    }
    return ViewAs(AsContiguous(x), dtype);
}

Array Where(const Call& call) { return chainerx::Where(call.X(0), call.X(1), call.X(2)); }

#define CX_ONNX_UNARY(Name, since, y) Operator{#Name, since, kNewestOpset, &Run<Compute##Name>},
#define CX_ONNX_BINARY(Name, since, y) CX_ONNX_UNARY(Name, since, y)
constexpr Operator kOperators[] = {
#include "chainerx/onnx/elementwise.def"
    CX_OPERATOR_SINCE(BitCast, 26),
    CX_OPERATOR_SINCE(Cast, 6),
    CX_OPERATOR_SINCE(CastLike, 15),
    CX_OPERATOR_SINCE(Clip, 6),
    CX_OPERATOR_SINCE(IsInf, 10),
    {"Max", 6, kNewestOpset, &Run<Fold<MaximumOfTwo>>},
    CX_OPERATOR_SINCE(Mean, 6),
    {"Min", 6, kNewestOpset, &Run<Fold<MinimumOfTwo>>},
    {"Sum", 6, kNewestOpset, &Run<Fold<AddTwo>>},
    CX_OPERATOR_SINCE(Where, 9),
};
#undef CX_ONNX_UNARY
#undef CX_ONNX_BINARY

}  // namespace

std::span<const Operator> ElementwiseOperators() { return kOperators; }

}  // namespace chainerx::onnx
