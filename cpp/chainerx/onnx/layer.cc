// Products and convolutions.
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/activation.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/fuse.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/windows.h"
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/einsum.h"
#include "chainerx/ops/linalg/factor.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

Array MatMul(const Call& call) { return Matmul(call.X(0), call.X(1)); }

Array Gemm(const Call& call) {
    Array a = call.X(0);
    Array b = call.X(1);
    if (a.ndim() != 2 || b.ndim() != 2) {
        throw DimensionError{"A and B have shapes ", a.shape(), " and ", b.shape(),
                             ", expected 2 dimensions"};
    }
    if (call.Int("transA", 0) != 0) a = Transpose(a);
    const bool is_transposed = call.Int("transB", 0) != 0;
    const double alpha = call.Float("alpha", 1);
    const double beta = call.Float("beta", 1);
    const std::optional<Array> c = call.Maybe(2);
    // The layer that nearly all models mean by it: one call that adds the bias, too.
    if (is_transposed && alpha == 1 && beta == 1 && IsFloat(a.dtype()) && c.has_value() &&
        c->ndim() == 1 && c->shape()[0] == b.shape()[0]) {
        return Linear(a, b, c);
    }
    Array y = Matmul(a, is_transposed ? Transpose(b) : b);
    if (alpha != 1) y = AsType(y * alpha, y.dtype(), false);
    if (!c.has_value() || beta == 0) return y;
    return y + (beta == 1 ? *c : AsType(*c * beta, c->dtype(), false));
}

Array Einsum(const Call& call) {
    return Einsum(EinsumSubscripts{call.String("equation", "")}, call.All());
}

Array Det(const Call& call) { return linalg::Det(call.X(0)); }

Shape SpatialOf(const Shape& shape) {
    return shape.size() < 3 ? Shape{} : Shape(shape.begin() + 2, shape.end());
}

// `size` is the shape of the windows; an attribute that is there must say the same.
void CheckKernelShape(const Call& call, const Array& w, const Shape& size) {
    if (!call.HasAttribute("kernel_shape")) return;
    const Shape shape = ToShape(call.IntList("kernel_shape"));
    if (!(shape == size)) {
        throw DimensionError{"attribute kernel_shape is ", shape, ", but W has shape ", w.shape()};
    }
}

Windows WindowsOf(const Call& call, const Array& x, const Array& w) {
    const Shape size = SpatialOf(w.shape());
    CheckKernelShape(call, w, size);
    return ReadWindows(call, x.shape(), size);
}

Array Conv(const Call& call) {
    const Array x = call.X(0);
    const Array w = call.X(1);
    const Windows windows = WindowsOf(call, x, w);
    return Conv(x, w, call.Maybe(2), PerAxis{windows.stride},
                AxisPads{windows.before, windows.after}, false, PerAxis{windows.dilation},
                call.Int("group", 1));
}

// Inputs: as Conv's, and what is added before the activation.
Array FusedConv(const Call& call) {
    const Array y = Conv(call);
    Activation f = DefaultActivation(call.String("activation", "affine"));
    const std::vector<float> params = call.FloatList("activation_params");
    if (!params.empty()) f.alpha = params[0];
    if (params.size() > 1) f.beta = params[1];
    return f(call.Has(3) ? y + call.X(3) : y);
}

Array FusedGemm(const Call& call) {
    Activation f = DefaultActivation(call.String("activation", "affine"));
    f.alpha = static_cast<float>(call.Float("activation_alpha", double{f.alpha}));
    f.beta = static_cast<float>(call.Float("activation_beta", double{f.beta}));
    return f(Gemm(call));
}

Array ConvTranspose(const Call& call) {
    const Array x = call.X(0);
    const Array w = call.X(1);
    const Shape size = SpatialOf(w.shape());
    CheckKernelShape(call, w, size);
    // Pads are read below: those of SAME depend on the output.
    const std::string_view automatic = call.String("auto_pad", "NOTSET");
    Windows windows = ReadWindows(call, x.shape(), size);
    const int64_t n = size.size();
    const auto read = [&](const char* name, int64_t least) {  // empty if it is not given
        return call.IntList(name).empty() ? Shape{} : ReadPerAxis(call, name, n, 0, least);
    };
    const Shape extra = read("output_padding", 0);
    const Shape wanted = read("output_shape", 1);
    Shape outputs;
    for (int8_t i = 0; i < n; ++i) {
        const int64_t full = windows.stride[i] * (x.shape()[i + 2] - 1) +
                             (extra.empty() ? 0 : extra[i]) + windows.Extent(i);
        const bool is_same = automatic.starts_with("SAME");
        if (!wanted.empty() || is_same) {
            const int64_t output =
                wanted.empty() ? x.shape()[i + 2] * windows.stride[i] : wanted[i];
            const int64_t total = std::max<int64_t>(full - output, 0);
            const bool is_upper = automatic == "SAME_UPPER";
            windows.before[i] = is_upper ? total / 2 : total - total / 2;
            windows.after[i] = total - windows.before[i];
            outputs.push_back(output);
        } else {
            outputs.push_back(full - windows.before[i] - windows.after[i]);
        }
        if (outputs.back() < 1) throw DimensionError{"the output would have shape ", outputs};
    }
    return ConvTranspose(x, w, call.Maybe(2), PerAxis{windows.stride},
                         AxisPads{windows.before, windows.after}, PerAxis{outputs},
                         PerAxis{windows.dilation}, call.Int("group", 1));
}

// The product of the lengths, the largest number if it does not fit: a file may have any.
int64_t BoundedProduct(const Shape& shape) {
    int64_t n = 1;
    for (const int64_t d : shape) {
        if (__builtin_mul_overflow(n, d, &n)) return INT64_MAX;
    }
    return n;
}

Array Col2Im(const Call& call) {
    const Array x = call.X(0);
    const Shape image = ToShape(call.Ints(1));
    const Shape block = ToShape(call.Ints(2));
    Shape whole{1, 1};
    for (const int64_t d : image) {
        // So that a sum of it and pads fits.
        if (d < 0 || d > int64_t{1} << 31) throw DimensionError{"the image has shape ", image};
        whole.push_back(d);
    }
    const Windows w = ReadWindows(call, whole, block);
    const int64_t n = block.size();
    Shape padded;
    Shape outputs;
    for (int8_t i = 0; i < n; ++i) {
        padded.push_back(image[i] + w.before[i] + w.after[i]);
        outputs.push_back(w.OutputLength(i, image[i]));
    }
    const int64_t taps = BoundedProduct(block);
    if (x.ndim() != 3 || x.shape()[1] % taps != 0 || x.shape()[2] != BoundedProduct(outputs)) {
        throw DimensionError{"the input has shape ",
                             x.shape(),
                             ", expected columns of ",
                             taps,
                             " for ",
                             outputs,
                             " blocks"};
    }
    const int64_t channels = x.shape()[1] / taps;
    Shape columns_shape{x.shape()[0], channels, taps};
    Shape y_shape{x.shape()[0], channels};
    for (const int64_t d : outputs) columns_shape.push_back(d);
    for (const int64_t d : padded) y_shape.push_back(d);
    const Array columns = Reshape(x, columns_shape);
    Array y = Zeros(y_shape, x.dtype(), x.device());
    for (int64_t tap = 0; tap < taps && x.GetTotalSize() != 0; ++tap) {
        std::vector<IndexItem> items{{Slice{}, {}}, {Slice{}, {}}};
        int64_t rest = taps;
        for (int8_t i = 0; i < n; ++i) {
            rest /= block[i];
            const int64_t start = tap / rest % block[i] * w.dilation[i];
            items.push_back(
                {Slice{start, start + (outputs[i] - 1) * w.stride[i] + 1, w.stride[i]}, {}});
        }
        y = IndexUpdate(y, items, columns.At({Slice{}, Slice{}, tap}), ScatterRule::kAdd);
    }
    std::vector<ArrayIndex> inner(2, Slice{});
    for (int8_t i = 0; i < n; ++i) {
        inner.emplace_back(Slice{w.before[i], w.before[i] + image[i]});
    }
    return y.At(inner);
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(Col2Im, 18),
    CX_OPERATOR_SINCE(Conv, 1),
    CX_OPERATOR_SINCE(ConvTranspose, 1),
    CX_OPERATOR_SINCE(Det, 11),
    CX_OPERATOR_SINCE(Einsum, 12),
    CX_OPERATOR_SINCE(Gemm, 6),
    CX_OPERATOR_SINCE(MatMul, 1),
    {"FusedConv", 1, kNewestOpset, &Run<FusedConv>, true, kMicrosoft},
    {"FusedGemm", 1, kNewestOpset, &Run<FusedGemm>, true, kMicrosoft},
};

}  // namespace

Values RunConvLayer(const Call& call) {
    const Array x = call.X(0);
    const Array w = call.X(1);
    const Windows windows = WindowsOf(call, x, w);
    const Prepared& prepared = *call.step().prepared;
    const internal::ConvEnd end{call.Maybe(3), prepared.limits, prepared.kept};
    return {internal::ConvLayer(x, w, call.Maybe(2), end, PerAxis{windows.stride},
                                AxisPads{windows.before, windows.after}, PerAxis{windows.dilation},
                                call.Int("group", 1))};
}

std::span<const Operator> LayerOperators() { return kOperators; }

}  // namespace chainerx::onnx
