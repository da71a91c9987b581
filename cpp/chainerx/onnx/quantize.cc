// Numbers of 8 and 16 bits that stand for floats.
#include <cmath>
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

// Rounds to the integers of a dtype.
Array Saturated(const Array& x, Dtype dtype) {
    if (!IsInt(dtype) || GetItemSize(dtype) > 2) {
        throw DtypeError{"the quantized dtype is ", dtype, ", expected integers of 8 or 16 bits"};
    }
    const auto [least, most] = VisitInt(dtype, []<typename T>() {
        return std::pair{static_cast<double>(std::numeric_limits<T>::min()),
                         static_cast<double>(std::numeric_limits<T>::max())};
    });
    return AsType(Clip(x, least, most), dtype);
}

Array ToFloat(const Array& x) { return IsFloat(x.dtype()) ? x : AsType(x, Dtype::kFloat32); }

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
    const Array x = call.X(0);
    const Array least = Minimum(AMin(x), 0);
    const Array most = Maximum(AMax(x), 0);
    const Array scale = (most - least) / 255;
    const Array zero = Saturated(Rint(Negative(least) / scale), Dtype::kUInt8);
    return {Saturated(Rint(x / scale) + ToFloat(zero), Dtype::kUInt8), scale, zero};
}

// An operand less its zero point, exactly; `axis` is that of a vector of zero points.
Array Centred(const Call& call, size_t operand, size_t zero, int8_t axis) {
    const Array x = AsType(call.X(operand), Dtype::kInt32);
    if (!call.Has(zero)) return x;
    Array z = AsType(call.X(zero), Dtype::kInt32);
    if (z.ndim() == 1 && z.GetTotalSize() > 1 && x.ndim() > 1) {
        Shape shape = Shape::Filled(x.ndim(), 1);
        shape[axis < 0 ? x.ndim() + axis : axis] = z.shape()[0];
        z = Reshape(z, shape);
    } else if (z.GetTotalSize() == 1) {
        z = Reshape(z, Shape{});
    }
    return x - z;
}

Array MatMulInteger(const Call& call) {
    return Matmul(Centred(call, 0, 2, -2), Centred(call, 1, 3, -1));
}

// Integers below 2^53, as sums of products of 8 bits are, are exact in float64.
Array IntegerConv(const Call& call, const Array& x, const Array& w) {
    const Shape size = w.ndim() < 3 ? Shape{} : Shape(w.shape().begin() + 2, w.shape().end());
    const Windows windows = ReadWindows(call, x.shape(), size);
    return Conv(AsType(x, Dtype::kFloat64), AsType(w, Dtype::kFloat64), std::nullopt,
                PerAxis{windows.stride}, AxisPads{windows.before, windows.after}, false,
                PerAxis{windows.dilation}, call.Int("group", 1));
}

Array ConvInteger(const Call& call) {
    return AsType(IntegerConv(call, Centred(call, 0, 2, 1), Centred(call, 1, 3, 0)), Dtype::kInt32);
}

// Inputs: a, scale and zero point of a; the same of b; scale and zero point of y.
Array QLinearMatMul(const Call& call) {
    const Array product = Matmul(Centred(call, 0, 2, -2), Centred(call, 3, 5, -1));
    const auto scale = [&call](size_t i, bool is_rows) {
        const Array s = AsType(call.X(i), Dtype::kFloat32, false);
        if (s.GetTotalSize() == 1) return Reshape(s, Shape{});
        return s.ndim() == 1 && is_rows ? Reshape(s, Shape{-1, 1}) : s;
    };
    const Array y =
        AsType(product, Dtype::kFloat32) * (scale(1, true) * scale(4, false) / scale(6, true));
    const Array zero = call.X(7);
    const bool is_single = zero.GetTotalSize() == 1;
    return Saturated(Rint(y) + ToFloat(is_single ? Reshape(zero, Shape{}) : zero), zero.dtype());
}

// Inputs: as before, and a bias of integers.
Array QLinearConv(const Call& call) {
    Array sum = IntegerConv(call, Centred(call, 0, 2, 1), Centred(call, 3, 5, 0));
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
    CX_OPERATOR_SINCE(ConvInteger, 10),           CX_OPERATOR_SINCE(DequantizeLinear, 10),
    CX_OPERATOR_SINCE(DynamicQuantizeLinear, 11), CX_OPERATOR_SINCE(MatMulInteger, 10),
    CX_OPERATOR_SINCE(QLinearConv, 10),           CX_OPERATOR_SINCE(QLinearMatMul, 10),
    CX_OPERATOR_SINCE(QuantizeLinear, 10),
};

}  // namespace

std::span<const Operator> QuantizeOperators() { return kOperators; }

}  // namespace chainerx::onnx
