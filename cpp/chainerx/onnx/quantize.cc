// Numbers of 8 and 16 bits that stand for floats.
#include "chainerx/onnx/quantize.h"

#include <limits>
#include <optional>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/windows.h"
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// A scale or zero point against x: one number, one per index of an axis, or one per block of it.
Array Spread(const Call& call, const Array& a, const Array& x) {
    if (a.GetTotalSize() == 1) return Reshape(a, Shape{});
    const int8_t axis = call.Axis(call.Int("axis", 1), x.ndim());
    const int64_t block = call.Int("block_size", 0);
    if (a.ndim() == 1 && block == 0) {
        Shape shape = Shape::Filled(x.ndim(), 1);
        shape[axis] = a.shape()[0];
        return Reshape(a, shape);
    }
    if (a.ndim() != x.ndim() || a.shape()[axis] == 0) {
        throw DimensionError{"scale has shape ", a.shape(), ", which does not fit ", x.shape()};
    }
    const int64_t length = x.shape()[axis];
    const int64_t size = block > 0 ? block : (length + a.shape()[axis] - 1) / a.shape()[axis];
    std::vector<ArrayIndex> items(static_cast<size_t>(x.ndim()), Slice{});
    items[static_cast<size_t>(axis)] = Slice{0, length};
    return Repeat(a, size, axis).At(items);
}

Array QuantizeLinear(const Call& call) {
    const Array x = call.X(0);
    Dtype dtype = Dtype::kUInt8;
    if (call.Int("output_dtype", 0) != 0) {
        dtype = ToDtype(call.Int("output_dtype"), "attribute output_dtype");
    } else if (call.Has(2)) {
        dtype = call.X(2).dtype();
    }
    Array y = Rint(AsType(x, Dtype::kFloat32, false) /
                   AsType(Spread(call, call.X(1), x), Dtype::kFloat32, false));
    if (call.Has(2)) y = y + ToFloat(Spread(call, call.X(2), x));
    return Saturated(y, dtype);
}

Array DequantizeLinear(const Call& call) {
    const Array x = call.X(0);
    const Array scale = call.X(1);
    Array y = ToFloat(x);
    if (call.Has(2)) y = y - ToFloat(Spread(call, call.X(2), x));
    Dtype dtype = scale.dtype();
    if (call.Int("output_dtype", 0) != 0) {
        dtype = ToDtype(call.Int("output_dtype"), "attribute output_dtype");
    }
    return AsType(y * AsType(Spread(call, scale, x), Dtype::kFloat32, false), dtype, false);
}

Values DynamicQuantizeLinear(const Call& call) {
    const Dynamic q = QuantizedDynamically(call.X(0));
    return {q.x, q.scale, q.zero};
}

// Operands of 8 bits less their zero points are below 256. So many of their products have a sum
// that is exact in float32; all others are exact in float64.
Dtype ExactDtype(int64_t n_products) {
    constexpr int64_t kMost = (1 << 24) / (255 * 255);
    return n_products <= kMost ? Dtype::kFloat32 : Dtype::kFloat64;
}

// An operand less its zero point; `axis` is that of a vector of zero points.
Array Centred(const Call& call, size_t operand, size_t zero, int8_t axis, Dtype dtype) {
    const Array given = call.X(operand);
    if (!IsInt(given.dtype()) || given.GetItemSize() != 1) {
        throw DtypeError{"input ", operand, " has dtype ", given.dtype(),
                         ", expected integers of 8 bits"};
    }
    const Array x = AsType(given, dtype);
    if (!call.Has(zero)) return x;
    Array z = AsType(call.X(zero), dtype);
    if (z.ndim() == 1 && z.GetTotalSize() > 1 && x.ndim() > 1) {
        Shape shape = Shape::Filled(x.ndim(), 1);
        shape[axis < 0 ? x.ndim() + axis : axis] = z.shape()[0];
        z = Reshape(z, shape);
    } else if (z.GetTotalSize() == 1) {
        z = Reshape(z, Shape{});
    }
    return x - z;
}

// The product of these inputs.
Array IntegerProduct(const Call& call, size_t a, size_t a_zero, size_t b, size_t b_zero) {
    const Array x = call.X(a);
    const Dtype dtype = ExactDtype(x.ndim() == 0 ? 1 : x.shape().back());
    return Matmul(Centred(call, a, a_zero, -2, dtype), Centred(call, b, b_zero, -1, dtype));
}

Array MatMulInteger(const Call& call) {
    return AsType(IntegerProduct(call, 0, 2, 1, 3), Dtype::kInt32);
}

// The convolution of these inputs.
Array IntegerConv(const Call& call, size_t x, size_t x_zero, size_t w, size_t w_zero) {
    const Shape shape = call.X(w).shape();
    const bool is_valid = shape.size() > 2 && shape[0] != 0;
    const Dtype dtype = ExactDtype(is_valid ? shape.GetTotalSize() / shape[0] : 0);
    const Shape size = is_valid ? Shape(shape.begin() + 2, shape.end()) : Shape{};
    const Windows windows = ReadWindows(call, call.X(x).shape(), size);
    return Conv(Centred(call, x, x_zero, 1, dtype), Centred(call, w, w_zero, 0, dtype),
                std::nullopt, PerAxis{windows.stride}, AxisPads{windows.before, windows.after},
                false, PerAxis{windows.dilation}, call.Int("group", 1));
}

Array ConvInteger(const Call& call) { return AsType(IntegerConv(call, 0, 2, 1, 3), Dtype::kInt32); }

// Inputs: a, scale and zero point of a; the same of b; scale and zero point of y.
Array QLinearMatMul(const Call& call) {
    const Array product = AsType(IntegerProduct(call, 0, 2, 3, 5), Dtype::kFloat32, false);
    const auto scale = [&call](size_t i, bool is_rows) {
        const Array s = AsType(call.X(i), Dtype::kFloat32, false);
        if (s.GetTotalSize() == 1) return Reshape(s, Shape{});
        return s.ndim() == 1 && is_rows ? Reshape(s, Shape{-1, 1}) : s;
    };
    const Array y = product * (scale(1, true) * scale(4, false) / scale(6, true));
    const Array zero = call.X(7);
    const bool is_single = zero.GetTotalSize() == 1;
    return Saturated(Rint(y) + ToFloat(is_single ? Reshape(zero, Shape{}) : zero), zero.dtype());
}

// Inputs: as before, and a bias of integers.
Array QLinearConv(const Call& call) {
    Array sum = IntegerConv(call, 0, 2, 3, 5);
    Shape channels = Shape::Filled(sum.ndim(), 1);
    channels[1] = -1;
    if (call.Has(8)) sum = sum + Reshape(AsType(call.X(8), Dtype::kFloat64), channels);
    const Array w_scale = call.X(4);
    const Array w =
        w_scale.GetTotalSize() == 1 ? Reshape(w_scale, Shape{}) : Reshape(w_scale, channels);
    const Array scale = Reshape(call.X(1), Shape{}) * w / Reshape(call.X(6), Shape{});
    const Array zero = Reshape(call.X(7), Shape{});
    return Saturated(Rint(sum * scale) + ToFloat(zero), zero.dtype());
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(ConvInteger, 10),
    CX_OPERATOR_SINCE(DequantizeLinear, 10),
    CX_OPERATOR_SINCE(DynamicQuantizeLinear, 11),
    CX_OPERATOR_SINCE(MatMulInteger, 10),
    CX_OPERATOR_SINCE(QLinearConv, 10),
    CX_OPERATOR_SINCE(QLinearMatMul, 10),
    CX_OPERATOR_SINCE(QuantizeLinear, 10),
    // onnxruntime had 16 bits before ONNX.
    {"DequantizeLinear", 1, kNewestOpset, &Run<DequantizeLinear>, true, kMicrosoft},
    {"QuantizeLinear", 1, kNewestOpset, &Run<QuantizeLinear>, true, kMicrosoft},
};

}  // namespace

std::span<const Operator> QuantizeOperators() { return kOperators; }

}  // namespace chainerx::onnx
