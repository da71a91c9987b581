// Operators on integers that onnxruntime adds: its tools write them into models.
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/quantize.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/norm/softmax.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// A scale or zero point: one number, or one per column.
Array Flat(const Array& a) { return a.GetTotalSize() == 1 ? Reshape(a, Shape{}) : a; }

// x as floats; its zero point may be missing.
Array Floats(const Call& call, size_t x, size_t scale, size_t zero) {
    Array y = ToFloat(call.X(x));
    if (call.Has(zero)) y = y - ToFloat(Flat(call.X(zero)));
    return y * Flat(call.X(scale));
}

// y as integers of the dtype of x, by the scale and zero point of these inputs.
Array Integers(const Call& call, const Array& y, size_t scale, size_t zero, Dtype dtype) {
    Array z = Rint(y / Flat(call.X(scale)));
    if (call.Has(zero)) z = z + ToFloat(Flat(call.X(zero)));
    return Saturated(z, dtype);
}

// Two operands, each with scale and zero point, then those of the result.
template <Array (*kFunction)(const Array& x1, const Array& x2)>
Array QLinearBinary(const Call& call) {
    const Array y = kFunction(Floats(call, 0, 1, 2), Floats(call, 3, 4, 5));
    return Integers(call, y, 6, 7, call.X(0).dtype());
}

Array Sum2(const Array& x1, const Array& x2) { return x1 + x2; }
Array Product2(const Array& x1, const Array& x2) { return x1 * x2; }

// One operand, with scale and zero point, then those of the result.
template <Array (*kFunction)(const Call& call, const Array& x)>
Array QLinearUnary(const Call& call) {
    const Array y = kFunction(call, Floats(call, 0, 1, 2));
    return Integers(call, y, 3, 4, call.X(0).dtype());
}

Array SigmoidOf(const Call&, const Array& x) { return Sigmoid(x); }
Array LeakyReluOf(const Call& call, const Array& x) {
    return LeakyRelu(x, call.Float("alpha", 0.01));
}
Array SoftmaxAlong(const Call& call, const Array& x) {
    const int8_t axis = call.Axis(call.Int("axis", -1), x.ndim());
    if (call.Int("opset", 13) >= 13) return Softmax(x, Axes{axis});
    int64_t rows = 1;  // from the axis on, all was one
    for (int8_t i = 0; i < axis; ++i) rows *= x.shape()[i];
    const int64_t columns = rows == 0 ? 0 : x.GetTotalSize() / rows;
    return Reshape(Softmax(Reshape(x, Shape{rows, columns}), Axes{1}), x.shape());
}
Array GlobalMean(const Call& call, const Array& x) {
    if (x.ndim() < 3) {
        throw DimensionError{"x has shape ", x.shape(), ", expected at least 3 dimensions"};
    }
    const bool is_last = call.Int("channels_last", 0) != 0;
    Axes axes;
    for (int8_t i = is_last ? 1 : 2; i < x.ndim() - (is_last ? 1 : 0); ++i) axes.push_back(i);
    return Mean(x, axes, true);
}

// Inputs: scale and zero point of the result, then each operand with its own.
Array QLinearConcat(const Call& call) {
    const size_t n = call.n_inputs();
    if (n < 5 || n % 3 != 2) {
        throw DimensionError{"there are ", n, " inputs, expected 2 and 3 per operand"};
    }
    std::vector<Array> parts;
    for (size_t i = 2; i < n; i += 3) parts.push_back(Floats(call, i, i + 1, i + 2));
    const Array y = Concatenate(parts, call.Axis(call.Int("axis"), parts[0].ndim()));
    return Integers(call, y, 0, 1, call.X(2).dtype());
}

// Inputs: a, b and y as in QLinearMatMul, but c, integers of the scale of the product, before y,
// which is float without its scale.
Array QGemm(const Call& call) {
    const Array a = Floats(call, 0, 1, 2);
    const auto columns = [&](size_t i) {  // one per column of b, which may be its row
        const Array s = Flat(call.X(i));
        return s.ndim() == 1 && call.Int("transB", 0) != 0 ? Reshape(s, Shape{-1, 1}) : s;
    };
    Array b = ToFloat(call.X(3));
    if (call.Has(5)) b = b - ToFloat(columns(5));
    b = b * columns(4);
    const double alpha = call.Float("alpha", 1);
    Array y = Matmul(call.Int("transA", 0) != 0 ? Transpose(a) : a,
                     call.Int("transB", 0) != 0 ? Transpose(b) : b) *
              alpha;
    if (call.Has(6)) y = y + ToFloat(call.X(6)) * (Flat(call.X(1)) * Flat(call.X(4)) * alpha);
    return call.Has(7) ? Integers(call, y, 7, 8, call.X(0).dtype()) : y;
}

// Inputs: a, b, scale of b, its zero point, bias.
Array DynamicQuantizeMatMul(const Call& call) {
    const Dynamic q = QuantizedDynamically(call.X(0));
    const Array a = (ToFloat(q.x) - ToFloat(q.zero)) * q.scale;
    const Array y = Matmul(a, Floats(call, 1, 2, 3));
    return call.Has(4) ? y + call.X(4) : y;
}

// Inputs: a, b, their scales, their zero points, bias.
Array MatMulIntegerToFloat(const Call& call) {
    const Array y = Matmul(Floats(call, 0, 2, 4), Floats(call, 1, 3, 5));
    return call.Has(6) ? y + call.X(6) : y;
}

// x (rows, bytes) as numbers of 4 bits, the lower ones first, or of 8; the first n of each row.
Array Unpacked(const Array& x, int64_t bits, int64_t n) {
    Array y = x;
    if (bits == 4) {
        const Array bytes = AsType(x, Dtype::kInt32);
        y = Stack(std::vector<Array>{BitwiseAnd(bytes, 15), RightShift(bytes, 4)}, 2);
    }
    y = Reshape(ToFloat(y), Shape{x.shape()[0], -1});
    if (y.shape()[1] < n) {
        throw DimensionError{"rows have ", y.shape()[1], " numbers, expected ", n};
    }
    return y.At({Slice{}, Slice{0, n}});
}

// Inputs: a (..., K), b (N, blocks, bytes), scales, zero points, order of groups, bias.
Array MatMulNBits(const Call& call) {
    const int64_t bits = call.Int("bits", 4);
    if ((bits != 4 && bits != 8) || call.Has(4)) {
        throw NotImplementedError{"numbers have ", bits, " bits", call.Has(4) ? ", and g_idx" : "",
                                  ", expected 4 or 8, and no g_idx"};
    }
    const int64_t n = call.Int("N");
    const int64_t k = call.Int("K");
    const int64_t size = call.Int("block_size");
    if (n < 1 || k < 1 || size < 1) {
        throw ValueError{"attributes N, K and block_size are ",
                         n,
                         ", ",
                         k,
                         " and ",
                         size,
                         ", expected at least 1"};
    }
    const int64_t blocks = (k + size - 1) / size;
    const Array packed = Reshape(call.X(1), Shape{n, -1});
    const Array scales = Reshape(call.X(2), Shape{n, blocks, 1});
    Array zeros = Full(Shape{1, 1}, bits == 4 ? 8 : 128, Dtype::kFloat32, call.device());
    if (call.Has(3)) {
        const Array z = Reshape(call.X(3), Shape{n, -1});
        zeros = IsFloat(z.dtype()) ? z : Unpacked(z, bits, blocks);
        zeros = ExpandDims(zeros, Axes{2});
    }
    const Array w = Reshape(Unpacked(packed, bits, blocks * size), Shape{n, blocks, size});
    const Array flat = Reshape((w - zeros) * scales, Shape{n, blocks * size});
    const Array y = Matmul(
        call.X(0), Transpose(AsType(flat.At({Slice{}, Slice{0, k}}), call.X(0).dtype(), false)));
    return call.Has(5) ? y + call.X(5) : y;
}

#define CX_FUSED(name, ...) \
    Operator { name, 1, kNewestOpset, &Run<__VA_ARGS__>, true, kMicrosoft }

constexpr Operator kOperators[] = {
    CX_FUSED("DynamicQuantizeMatMul", DynamicQuantizeMatMul),
    CX_FUSED("MatMulIntegerToFloat", MatMulIntegerToFloat),
    CX_FUSED("MatMulNBits", MatMulNBits),
    CX_FUSED("QGemm", QGemm),
    CX_FUSED("QLinearAdd", QLinearBinary<Sum2>),
    CX_FUSED("QLinearConcat", QLinearConcat),
    CX_FUSED("QLinearGlobalAveragePool", QLinearUnary<GlobalMean>),
    CX_FUSED("QLinearLeakyRelu", QLinearUnary<LeakyReluOf>),
    CX_FUSED("QLinearMul", QLinearBinary<Product2>),
    CX_FUSED("QLinearSigmoid", QLinearUnary<SigmoidOf>),
    CX_FUSED("QLinearSoftmax", QLinearUnary<SoftmaxAlong>),
};
#undef CX_FUSED

}  // namespace

std::span<const Operator> FusedQuantizeOperators() { return kOperators; }

}  // namespace chainerx::onnx
