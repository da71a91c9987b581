// Operators that make arrays of constants, shapes and positions.
#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/trigonometric.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

Array Constant(const Call& call) {
    const auto made = [&call](const auto& values, bool is_scalar) {
        const Shape shape = is_scalar ? Shape{} : Shape{static_cast<int64_t>(values.size())};
        return Array::FromHost(values, shape, call.host());
    };
    if (const Array* value = call.Tensor("value")) return *value;
    if (call.HasAttribute("value_int")) return made(std::vector{call.Int("value_int")}, true);
    if (call.HasAttribute("value_ints")) return made(call.IntList("value_ints"), false);
    if (call.HasAttribute("value_float")) {
        return made(std::vector{static_cast<float>(call.Float("value_float"))}, true);
    }
    if (call.HasAttribute("value_floats")) return made(call.FloatList("value_floats"), false);
    throw NotImplementedError{"the constant is neither a tensor nor numbers"};
}

Array ShapeOf(const Call& call) {
    const Shape& shape = call.XWhereItIs(0).shape();
    const int64_t ndim = shape.size();
    const auto bound = [ndim](int64_t i) {
        return std::clamp<int64_t>(i < 0 ? i + ndim : i, 0, ndim);
    };
    const int64_t start = bound(call.Int("start", 0));
    const int64_t end = std::max(start, bound(call.Int("end", ndim)));
    return Array::FromHost(std::vector<int64_t>(shape.begin() + start, shape.begin() + end),
                           Shape{end - start}, call.host());
}

Array Size(const Call& call) {
    const int64_t size = call.XWhereItIs(0).GetTotalSize();
    return Array::FromHost(std::vector{size}, Shape{}, call.host());
}

Array ConstantOfShape(const Call& call) {
    const Shape shape = ToShape(call.Ints(0));
    const Array* value = call.Tensor("value");
    Device& device = *call.frame().device;
    if (value == nullptr) return Zeros(shape, Dtype::kFloat32, device);
    if (value->GetTotalSize() != 1) {
        throw DimensionError{"attribute value has shape ", value->shape(), ", expected (1,)"};
    }
    return Copy(BroadcastTo(Reshape(value->ToDevice(device), Shape{}), shape));
}

Array EyeLike(const Call& call) {
    const Array x = call.X(0);
    if (x.ndim() != 2) {
        throw DimensionError{"the input has ", int64_t{x.ndim()}, " dimensions, expected 2"};
    }
    const Dtype dtype =
        call.HasAttribute("dtype") ? ToDtype(call.Int("dtype"), "attribute dtype") : x.dtype();
    return Eye(x.shape()[0], x.shape()[1], call.Int("k", 0), dtype, x.device());
}

Array Range(const Call& call) {
    const Dtype dtype = call.X(0).dtype();
    if (IsInt(dtype)) {
        return Arange(Scalar{call.IntAt(0)}, Scalar{call.IntAt(1)}, Scalar{call.IntAt(2)}, dtype,
                      call.device());
    }
    const double start = call.DoubleAt(0);
    const double step = call.DoubleAt(2);
    const double n = std::max(0.0, std::ceil((call.DoubleAt(1) - start) / step));
    if (!(n < 0x1p40)) throw ValueError{"start, limit and delta have no last element"};
    return AsType(
        Arange(Scalar{static_cast<int64_t>(n)}, Dtype::kFloat64, call.device()) * step + start,
        dtype, false);
}

// Windows of `size` samples: a0 - a1 cos + a2 cos of the double angle.
Array Window(const Call& call, double a0, double a1, double a2) {
    const int64_t size = call.IntAt(0);
    if (size < 0) throw ValueError{"size is ", size, ", expected at least 0"};
    const bool is_periodic = call.Int("periodic", 1) != 0;
    const auto period = static_cast<double>(is_periodic ? size : size - 1);
    const Array angle =
        Arange(Scalar{size}, Dtype::kFloat64, *call.frame().device) * (2 * M_PI / period);
    const Array y = Cos(angle) * -a1 + Cos(angle * 2) * a2 + a0;
    return AsType(y, ToDtype(call.Int("output_datatype", 1), "attribute output_datatype"));
}
Array HannWindow(const Call& call) { return Window(call, 0.5, 0.5, 0); }
Array HammingWindow(const Call& call) { return Window(call, 25.0 / 46, 21.0 / 46, 0); }
Array BlackmanWindow(const Call& call) { return Window(call, 0.42, 0.5, 0.08); }

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(BlackmanWindow, 17),
    CX_OPERATOR_SINCE(Constant, 1),
    CX_OPERATOR_SINCE(ConstantOfShape, 9),
    CX_OPERATOR_SINCE(EyeLike, 9),
    CX_OPERATOR_SINCE(HammingWindow, 17),
    CX_OPERATOR_SINCE(HannWindow, 17),
    CX_OPERATOR_SINCE(Range, 11),
    {"Shape", 1, kNewestOpset, &Run<ShapeOf>},
    CX_OPERATOR_SINCE(Size, 1),
};

}  // namespace

std::span<const Operator> ConstantOperators() { return kOperators; }

}  // namespace chainerx::onnx
