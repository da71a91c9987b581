// Float operators that onnxruntime adds: its optimizers write them into models.
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/attention/attention.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/logic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/norm/normalization.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// What no model has been seen to use.
void Refuse(const Call& call, size_t input, const char* name) {
    if (call.Has(input)) throw NotImplementedError{"input ", name, " is not supported"};
}

// ---- activations --------------------------------------------------------------------------------

Array GeluOf(const Call& call) {
    const Array x = call.X(0);
    return Gelu(call.Has(1) ? x + call.X(1) : x);
}
Array FastGelu(const Call& call) {
    const Array x = call.X(0);
    return Gelu(call.Has(1) ? x + call.X(1) : x, GeluApproximation::kTanh);
}
Array QuickGelu(const Call& call) {
    const Array x = call.X(0);
    return x * Sigmoid(x * call.Float("alpha", 1.702));
}

// ---- norms --------------------------------------------------------------------------------------

Array LastNorm(const Array& x, const Array& gamma, const std::optional<Array>& beta, double eps) {
    return LayerNorm(x, gamma, beta ? *beta : Zeros(gamma.shape(), gamma.dtype(), gamma.device()),
                     eps);
}

// The sum of input, skip and bias, normalized, and the sum.
Values SkipNorm(const Call& call, size_t bias, const auto& norm) {
    if (call.Wants(1) || call.Wants(2)) {
        throw NotImplementedError{"outputs mean and inv_std_var are not supported"};
    }
    Array sum = call.X(0) + call.X(1);
    if (call.Has(bias)) sum = sum + call.X(bias);
    return {norm(sum), {}, {}, sum};
}
Values SkipLayerNormalization(const Call& call) {
    return SkipNorm(call, 4, [&call](const Array& x) {
        return LastNorm(x, call.X(2), call.Maybe(3), call.Float("epsilon", 1e-12));
    });
}
Values SkipSimplifiedLayerNormalization(const Call& call) {
    return SkipNorm(call, 3, [&call](const Array& x) {
        return RmsNorm(x, call.X(2), call.Float("epsilon", 1e-12));
    });
}
Array SimplifiedLayerNormalization(const Call& call) {
    const Array x = call.X(0);
    Axes axes;
    for (int8_t i = call.Axis(call.Int("axis", -1), x.ndim()); i < x.ndim(); ++i) axes.push_back(i);
    return RmsNorm(x, call.X(1), call.Float("epsilon", 1e-5), axes);
}

// Inputs: words, segments, their tables with that of positions between them, gamma, beta, mask,
// positions.
Values EmbedLayerNormalization(const Call& call) {
    const Array words = call.X(0);
    if (words.ndim() != 2) {
        throw DimensionError{"input_ids have shape ", words.shape(), ", expected 2 dimensions"};
    }
    const auto rows = [](const Array& table, const Array& ids) {
        return Take(table, ids, 0, IndexBoundsMode::kRaise);
    };
    const Array positions =
        call.Has(8) ? call.X(8)
                    : Reshape(Arange(Scalar{words.shape()[1]}, Dtype::kInt64, words.device()),
                              Shape{1, -1});
    Array sum = rows(call.X(2), words) + rows(call.X(3), positions);
    if (call.Has(1)) sum = sum + rows(call.X(4), call.X(1));
    const Array y = LastNorm(sum, call.X(5), call.Maybe(6), call.Float("epsilon", 1e-12));
    const Array n = call.Has(7) ? AsType(Sum(call.X(7), Axes{1}), Dtype::kInt32)
                                : Zeros(Shape{words.shape()[0]}, Dtype::kInt32, words.device());
    return {y, n, sum};
}

// ---- attention ----------------------------------------------------------------------------------

Array ToHeads(const Array& x, int64_t heads) {
    if (x.ndim() == 4) return x;
    if (x.ndim() != 3 || heads < 1 || x.shape()[2] % heads != 0) {
        throw DimensionError{"an operand has shape ", x.shape(), ", expected 3 dimensions and ",
                             heads, " heads"};
    }
    const Shape& s = x.shape();
    return Transpose(Reshape(x, {s[0], s[1], heads, s[2] / heads}), Axes{0, 2, 1, 3});
}

// What is added to scores where the mask forbids keys: for (batch, keys) and (batch, queries, keys)
// where it is 0, for (batch,) behind so many keys, for (2 batch,) also before so many.
Array BiasOfMask(const Call& call, const Array& mask, int64_t batch, int64_t keys, Dtype dtype) {
    Array allowed;
    if (mask.ndim() == 2) {
        allowed = Reshape(mask, Shape{mask.shape()[0], 1, 1, mask.shape()[1]}) != 0;
    } else if (mask.ndim() == 3) {
        allowed = ExpandDims(mask, Axes{1}) != 0;
    } else if (mask.ndim() == 1 && (mask.shape()[0] == batch || mask.shape()[0] == 2 * batch)) {
        const Array key = Arange(Scalar{keys}, Dtype::kInt64, mask.device());
        const auto column = [&](int64_t from) {
            return Reshape(mask.At({Slice{from, from + batch}}), Shape{-1, 1, 1, 1});
        };
        allowed = key < column(0);
        if (mask.shape()[0] == 2 * batch) allowed = LogicalAnd(allowed, key >= column(batch));
    } else {
        throw NotImplementedError{"the mask has shape ", mask.shape(), ", expected (", batch,
                                  ",), 2 or 3 dimensions"};
    }
    const double fill = call.Float("mask_filter_value", -10000);
    return AsType(Where(allowed, Scalar{0.0}, Scalar{fill}), dtype, false);
}

struct Operands {
    Array q, k, v;
    size_t mask, bias, past_k, past_v;  // inputs
};

// y, keys and values with those of the past before them.
std::pair<Array, std::pair<Array, Array>> Attend(const Call& call, Operands in) {
    const int64_t heads = call.Int("num_heads");
    Array q = ToHeads(in.q, heads);
    Array k = ToHeads(in.k, heads);
    Array v = ToHeads(in.v, heads);
    if (call.Has(in.past_k)) {
        // One input has both, or there are two.
        const Array past = call.X(in.past_k);
        const bool is_one = in.past_k == in.past_v;
        k = Concatenate(std::vector<Array>{is_one ? At(past, 0) : past, k}, 2);
        v = Concatenate(std::vector<Array>{is_one ? At(past, 1) : call.X(in.past_v), v}, 2);
    }
    const int64_t queries = q.shape()[2];
    const int64_t keys = k.shape()[2];
    Array bias;
    const auto add = [&bias](const Array& more) { bias = bias.is_null() ? more : bias + more; };
    if (call.Has(in.mask)) {
        add(BiasOfMask(call, call.X(in.mask), q.shape()[0], keys, q.dtype()));
    }
    if (call.Has(in.bias)) add(call.X(in.bias));
    if (call.Int("unidirectional", 0) != 0) {
        const Array key = Arange(Scalar{keys}, Dtype::kInt64, q.device());
        const Array query =
            Reshape(Arange(Scalar{queries}, Dtype::kInt64, q.device()), Shape{-1, 1});
        add(AsType(Where(key <= query + (keys - queries), Scalar{0.0}, Scalar{-INFINITY}),
                   q.dtype(), false));
    }
    AttentionSettings settings;
    const double scale = call.Float("scale", 0);
    if (scale != 0) settings.scale = scale;
    const Array y = ScaledDotProductAttention(
        q, k, v, bias.is_null() ? std::nullopt : std::optional{bias}, settings);
    const Shape& s = y.shape();
    return {Reshape(Transpose(y, Axes{0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]}), {k, v}};
}

// Inputs: x, weights of all three, bias, mask, past, bias of scores, length of the past.
Values FusedAttention(const Call& call) {
    Refuse(call, 6, "past_sequence_length");
    if (call.Int("do_rotary", 0) != 0) {
        throw NotImplementedError{"attribute do_rotary is not supported"};
    }
    Array x = Matmul(call.X(0), call.X(1));
    if (call.Has(2)) x = x + call.X(2);
    std::vector<int64_t> sizes = call.IntList("qkv_hidden_sizes");
    const int64_t width = x.shape().back();
    if (sizes.empty()) sizes.assign(3, width / 3);
    if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != width) {
        throw DimensionError{"weights have ", width, " columns, expected the sum of 3 sizes"};
    }
    const std::vector<Array> parts =
        Split(x, std::vector<int64_t>{sizes[0], sizes[0] + sizes[1]}, 2);
    const auto [y, present] = Attend(call, {parts[0], parts[1], parts[2], 3, 5, 4, 4});
    if (!call.Wants(1)) return {y};
    return {y, Stack(std::vector<Array>{present.first, present.second}, 0)};
}

// Inputs: query, key, value, bias of all three, mask, bias of scores, past keys, past values.
Values MultiHeadAttention(const Call& call) {
    if (!call.Has(1) || !call.Has(2) || call.X(0).ndim() != 3) {
        throw NotImplementedError{"query has shape ", call.X(0).shape(),
                                  ", expected (batch, length, width), and key and value as inputs"};
    }
    Refuse(call, 8, "past_sequence_length");
    Refuse(call, 9, "cache_indirection");
    Operands in{call.X(0), call.X(1), call.X(2), 4, 5, 6, 7};
    if (call.Has(3)) {
        const Array bias = call.X(3);
        const int64_t width = in.q.shape()[2];
        in.q = in.q + bias.At({Slice{0, width}});
        if (in.k.ndim() == 3) in.k = in.k + bias.At({Slice{width, 2 * width}});
        if (in.v.ndim() == 3) in.v = in.v + bias.At({Slice{2 * width, std::nullopt}});
    }
    const auto [y, present] = Attend(call, std::move(in));
    return {y, present.first, present.second};
}

// ---- products -----------------------------------------------------------------------------------

// The first axis of an operand may be that of its rows, with batches between those and the columns.
Array FusedMatMul(const Call& call) {
    const auto operand = [&call](size_t i, const char* batch, const char* matrix) {
        Array x = call.X(i);
        const auto last = static_cast<int8_t>(x.ndim() - 1);
        if (call.Int(batch, 0) != 0 && last > 1) {
            x = Moveaxis(x, Axes{0}, Axes{static_cast<int8_t>(last - 1)});
        }
        return call.Int(matrix, 0) != 0 && last > 0 ? Swapaxes(x, -1, -2) : x;
    };
    const Array y =
        Matmul(operand(0, "transBatchA", "transA"), operand(1, "transBatchB", "transB"));
    const double alpha = call.Float("alpha", 1);
    return alpha == 1 ? y : AsType(y * alpha, y.dtype(), false);
}

#define CX_FUSED(name, ...) \
    Operator { name, 1, kNewestOpset, &Run<__VA_ARGS__>, true, kMicrosoft }

constexpr Operator kOperators[] = {
    CX_FUSED("Attention", FusedAttention),
    CX_FUSED("BiasGelu", GeluOf),
    CX_FUSED("EmbedLayerNormalization", EmbedLayerNormalization),
    CX_FUSED("FastGelu", FastGelu),
    CX_FUSED("FusedMatMul", FusedMatMul),
    CX_FUSED("Gelu", GeluOf),
    CX_FUSED("MultiHeadAttention", MultiHeadAttention),
    CX_FUSED("QuickGelu", QuickGelu),
    // onnxruntime has it in the domain of ONNX.
    {"SimplifiedLayerNormalization", 1, kNewestOpset, &Run<SimplifiedLayerNormalization>},
    CX_FUSED("SkipLayerNormalization", SkipLayerNormalization),
    CX_FUSED("SkipSimplifiedLayerNormalization", SkipSimplifiedLayerNormalization),
};
#undef CX_FUSED

}  // namespace

std::span<const Operator> FusedOperators() { return kOperators; }

}  // namespace chainerx::onnx
