// Attention and what belongs to it.
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/attention/attention.h"
#include "chainerx/ops/conv/conv.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// (batch, length, heads * width) to (batch, heads, length, width).
Array SplitHeads(const char* name, const Array& x, int64_t heads) {
    if (x.ndim() != 3 || heads < 1 || x.shape()[2] % heads != 0) {
        throw DimensionError{name,  " has shape ", x.shape(), ", expected 3 dimensions and ",
                             heads, " heads"};
    }
    const Shape& s = x.shape();
    return Transpose(Reshape(x, {s[0], s[1], heads, s[2] / heads}), Axes{0, 2, 1, 3});
}

Array JoinHeads(const Array& x) {
    const Shape& s = x.shape();
    return Reshape(Transpose(x, Axes{0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

// Repeats each head, so that groups of queries find theirs.
Array RepeatHeads(const Array& x, int64_t heads) {
    if (x.shape()[1] == heads) return x;
    if (x.shape()[1] == 0 || heads % x.shape()[1] != 0) {
        throw DimensionError{"there are ", heads, " heads of queries and ", x.shape()[1],
                             " of keys, expected a multiple"};
    }
    return Repeat(x, heads / x.shape()[1], 1);
}

Array ToBias(const Array& allowed, Dtype dtype) {
    return AsType(Where(allowed, Scalar{0.0}, Scalar{-INFINITY}), dtype, false);
}

// The sum of all that forbids keys: masks, order, windows, lengths. Null if nothing does.
Array BiasOf(const Call& call, Dtype dtype, int64_t queries, int64_t keys, Device& device) {
    Array bias;
    const auto add = [&bias](const Array& more) { bias = bias.is_null() ? more : bias + more; };
    if (call.Has(3)) {
        Array mask = call.X(3);
        if (mask.ndim() == 0) throw DimensionError{"attn_mask has no dimensions"};
        const int64_t missing = keys - mask.shape().back();
        if (missing > 0 && mask.shape().back() != 1) {
            PadWidths widths(static_cast<size_t>(mask.ndim()), {0, 0});
            widths.back().second = missing;
            const Scalar pad = IsBool(mask.dtype()) ? Scalar{false} : Scalar{-INFINITY};
            mask = Pad(mask, widths, PadMode::kConstant, pad);
        }
        add(IsBool(mask.dtype()) ? ToBias(mask, dtype) : mask);
    }
    const bool is_causal = call.Int("is_causal", 0) != 0;
    const int64_t left = call.Int("left_window_size", -1);
    const int64_t right = call.Int("right_window_size", -1);
    const Array key = Arange(Scalar{keys}, Dtype::kInt64, device);
    if (is_causal || left >= 0 || right >= 0) {
        // Positions of queries count from behind what is cached.
        Array query = Reshape(Arange(Scalar{queries}, Dtype::kInt64, device), Shape{-1, 1});
        if (call.Has(4)) {
            query = query + call.X(4).shape()[2];
        } else if (call.Has(6)) {
            query = query + Reshape(call.X(6) - queries, Shape{-1, 1, 1, 1});
        }
        if (is_causal) add(ToBias(key <= query, dtype));
        if (left >= 0) add(ToBias(key >= query - left, dtype));
        if (right >= 0) add(ToBias(key <= query + right, dtype));
    }
    if (call.Has(6)) add(ToBias(key < Reshape(call.X(6), Shape{-1, 1, 1, 1}), dtype));
    return bias;
}

// Softmax along the last axis; 0 where `bias` forbids all, which may be null.
Array SoftmaxOf(const Array& x, const Array& bias) {
    const Axes last{static_cast<int8_t>(x.ndim() - 1)};
    if (x.shape().back() == 0) return x;
    Array most = AMax(x, last, true);
    most = Where(most == -INFINITY, 0, most);
    const Array e = Exp(x - most);
    const Array sum = Sum(e, last, true);
    const Array y = e / Where(sum == 0, 1, sum);
    if (bias.is_null()) return y;
    const Axes last_of_bias{static_cast<int8_t>(bias.ndim() - 1)};
    return Where(AMax(bias, last_of_bias, true) == -INFINITY, 0, y);
}

// Whether Attention is what the routine of this name computes: nothing is cached, capped or left
// out at the ends, and nobody reads scores.
bool IsPlain(const Call& call, const Array& q, const Array& k, const Array& v) {
    if (k.dtype() != q.dtype() || v.dtype() != q.dtype()) return false;
    if (call.Wants(1) || call.Wants(2) || call.Wants(3) || call.Has(4) || call.Has(6)) return false;
    if (call.Float("softcap", 0) > 0 || call.HasAttribute("softmax_precision")) return false;
    if (call.Int("left_window_size", -1) >= 0 || call.Int("right_window_size", -1) >= 0) {
        return false;
    }
    if (!call.Has(3)) return true;
    const Array mask = call.X(3);
    return mask.ndim() > 0 && mask.shape().back() == k.shape()[2] &&
           (IsBool(mask.dtype()) || mask.dtype() == q.dtype());
}

Array PlainAttention(const Call& call, const Array& q, const Array& k, const Array& v) {
    AttentionSettings settings;
    settings.is_causal = call.Int("is_causal", 0) != 0;
    if (call.HasAttribute("scale")) settings.scale = call.Float("scale");
    settings.is_grouped = q.shape()[1] != k.shape()[1];
    return ScaledDotProductAttention(q, k, v, call.Maybe(3), settings);
}

Values Attention(const Call& call) {
    Array q = call.X(0);
    Array k = call.X(1);
    Array v = call.X(2);
    const Dtype dtype = q.dtype();
    const bool is_flat = q.ndim() == 3;
    if (is_flat) {
        const int64_t heads = call.Int("kv_num_heads");
        q = SplitHeads("Q", q, call.Int("q_num_heads"));
        k = SplitHeads("K", k, heads);
        v = SplitHeads("V", v, heads);
    }
    if (q.ndim() != 4 || k.ndim() != 4 || v.ndim() != 4) {
        throw DimensionError{
            "Q, K and V have shapes ",     q.shape(), ", ", k.shape(), " and ", v.shape(),
            ", expected 3 or 4 dimensions"};
    }
    if (call.Has(4) != call.Has(5)) throw ValueError{"past_key and past_value belong together"};
    if (IsPlain(call, q, k, v)) {
        const Array y = PlainAttention(call, q, k, v);
        return {is_flat ? JoinHeads(y) : y};
    }
    if (call.Has(4)) {
        k = Concatenate(std::vector{call.X(4), k}, 2);
        v = Concatenate(std::vector{call.X(5), v}, 2);
    }
    const double root =
        std::sqrt(call.Float("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3]))));
    const int64_t heads = q.shape()[1];
    const Array keys = RepeatHeads(k, heads);
    const Array bias = BiasOf(call, dtype, q.shape()[2], k.shape()[2], q.device());
    Array scores = Matmul(q * root, Swapaxes(keys, -1, -2) * root);
    const int64_t mode = call.Int("qk_matmul_output_mode", 0);
    const Array raw = scores;
    const double cap = call.Float("softcap", 0);
    if (cap > 0) scores = Tanh(scores / cap) * cap;
    const Array capped = scores;
    if (!bias.is_null()) scores = scores + bias;
    const Array biased = scores;
    if (call.HasAttribute("softmax_precision")) {
        const Dtype precision =
            ToDtype(call.Int("softmax_precision"), "attribute softmax_precision");
        scores = AsType(scores, precision, false);
    }
    const Array weights = AsType(SoftmaxOf(scores, bias), dtype, false);
    Array y = Matmul(weights, RepeatHeads(v, heads));
    if (is_flat) y = JoinHeads(y);
    const Array shown = mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? biased : weights;
    return {y, k, v, AsType(shown, dtype, false)};
}

// Runs a graph of one input and one output on x, if the step has it.
Array Modified(const Call& call, const char* name, const Array& x) {
    if (!call.HasAttribute(name)) return x;
    const Values outputs = RunBlock(call.Graph(name), {x}, call.frame());
    if (outputs.size() != 1 || outputs[0].array.is_null() ||
        !(outputs[0].array.shape() == x.shape())) {
        throw DimensionError{"graph ", name, " must return one array of shape ", x.shape()};
    }
    return AsType(outputs[0].array, x.dtype(), false);
}

// Attention whose scores and weights graphs may change.
Array FlexAttention(const Call& call) {
    const Array q = call.X(0);
    const Array v = call.X(2);
    if (q.ndim() != 4 || call.X(1).ndim() != 4 || v.ndim() != 4) {
        throw DimensionError{"Q, K and V have shapes ", q.shape(), ", ",
                             call.X(1).shape(),         " and ",   v.shape(),
                             ", expected 4 dimensions"};
    }
    const double root =
        std::sqrt(call.Float("scale", 1 / std::sqrt(static_cast<double>(q.shape()[3]))));
    const Array keys = RepeatHeads(call.X(1), q.shape()[1]);
    const bool is_short = q.GetItemSize() < 4;
    const Dtype precision =
        call.HasAttribute("softmax_precision")
            ? ToDtype(call.Int("softmax_precision"), "attribute softmax_precision")
            : (is_short ? Dtype::kFloat32 : q.dtype());
    const Array scores = AsType(Matmul(q * root, Swapaxes(keys, -1, -2) * root), precision, false);
    const Array weights =
        Modified(call, "prob_mod", SoftmaxOf(Modified(call, "score_mod", scores), {}));
    const Array values = AsType(RepeatHeads(v, q.shape()[1]), precision, false);
    return AsType(Matmul(weights, values), v.dtype(), false);
}

Array RotaryEmbedding(const Call& call) {
    const Array given = call.X(0);
    const bool is_flat = given.ndim() == 3;
    // (batch, heads, length, width)
    const Array x = is_flat ? SplitHeads("X", given, call.Int("num_heads")) : given;
    if (x.ndim() != 4) {
        throw DimensionError{"X has shape ", x.shape(), ", expected 3 or 4 dimensions"};
    }
    int64_t width = call.Int("rotary_embedding_dim", 0);
    if (width == 0) width = x.shape()[3];
    Array cosine = call.X(1);
    Array sine = call.X(2);
    if (call.Has(3)) {
        cosine = Take(cosine, call.X(3), 0, IndexBoundsMode::kRaise);
        sine = Take(sine, call.X(3), 0, IndexBoundsMode::kRaise);
    }
    if (cosine.ndim() != 3 || sine.ndim() != 3 || width > x.shape()[3] ||
        cosine.shape()[2] != width / 2 || sine.shape()[2] != width / 2) {
        throw DimensionError{"cos_cache and sin_cache have shapes ",
                             cosine.shape(),
                             " and ",
                             sine.shape(),
                             ", expected half of ",
                             width,
                             " columns"};
    }
    cosine = ExpandDims(cosine, Axes{1});
    sine = ExpandDims(sine, Axes{1});
    const bool is_interleaved = call.Int("interleaved", 0) != 0;
    const Slice first = is_interleaved ? Slice{0, width, 2} : Slice{0, width / 2};
    const Slice second = is_interleaved ? Slice{1, width, 2} : Slice{width / 2, width};
    const Array x1 = x.At({Ellipsis{}, first});
    const Array x2 = x.At({Ellipsis{}, second});
    const std::vector<Array> parts{x1 * cosine - x2 * sine, x1 * sine + x2 * cosine};
    Array turned = is_interleaved ? Stack(parts, 4) : Concatenate(parts, 3);
    if (is_interleaved) {
        const Shape& s = x.shape();
        turned = Reshape(turned, {s[0], s[1], s[2], width});
    }
    const Array rest = x.At({Ellipsis{}, Slice{width, std::nullopt}});
    const Array y = Concatenate(std::vector{turned, rest}, 3);
    return is_flat ? JoinHeads(y) : y;
}

// Linear attention: a state of keys x values per head, read by queries after each step.
Values LinearAttention(const Call& call) {
    const std::string_view rule = call.String("update_rule", "gated_delta");
    const bool is_gated = rule == "gated" || rule == "gated_delta";
    const bool is_delta = rule == "delta" || rule == "gated_delta";
    if (!is_gated && !is_delta && rule != "linear") {
        throw ValueError{"attribute update_rule is \"", rule,
                         "\", expected linear, gated, delta or gated_delta"};
    }
    if (call.Has(4) != is_gated || call.Has(5) != is_delta) {
        throw ValueError{"update_rule \"",
                         rule,
                         "\" ",
                         is_gated ? "needs" : "forbids",
                         " decay and ",
                         is_delta ? "needs" : "forbids",
                         " beta"};
    }
    const int64_t heads = call.Int("kv_num_heads");
    const Dtype dtype = call.X(0).dtype();
    const auto wide = [](const Array& x) { return AsType(x, Dtype::kFloat32, false); };
    const Array q = wide(SplitHeads("query", call.X(0), call.Int("q_num_heads")));
    const Array k = wide(SplitHeads("key", call.X(1), heads));
    const Array v = wide(SplitHeads("value", call.X(2), heads));
    const int64_t batch = q.shape()[0];
    const Array decay = is_gated ? wide(SplitHeads("decay", call.X(4), heads)) : Array{};
    const bool is_shared = is_delta && call.X(5).ndim() == 3 && call.X(5).shape()[2] == 1;
    const Array beta =
        is_delta ? wide(SplitHeads("beta", call.X(5), is_shared ? 1 : heads)) : Array{};
    const Shape state_shape{batch, heads, k.shape()[3], v.shape()[3]};
    Array state = call.Has(3) ? wide(call.X(3)) : Zeros(state_shape, Dtype::kFloat32, q.device());
    const Dtype state_dtype = call.Has(3) ? call.X(3).dtype() : dtype;
    if (!(state.shape() == state_shape)) {
        throw DimensionError{"past_state has shape ", state.shape(), ", expected ", state_shape};
    }
    double scale = call.Float("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.shape()[3]));
    std::vector<Array> ys;
    for (int64_t t = 0; t < q.shape()[2]; ++t) {
        // Rows, 1 x width, and columns.
        const auto row = [t](const Array& x) { return x.At({Slice{}, Slice{}, Slice{t, t + 1}}); };
        const auto column = [&row](const Array& x) { return Swapaxes(row(x), -1, -2); };
        Array value = row(v);
        if (is_gated) state = state * Exp(column(decay));
        if (is_delta) value = row(beta) * (value - Matmul(row(k), state));
        state = state + column(k) * value;
        ys.push_back(Matmul(row(q), RepeatHeads(state, q.shape()[1])) * scale);
    }
    const Array y =
        ys.empty() ? Zeros(Shape{batch, q.shape()[1], 0, v.shape()[3]}, Dtype::kFloat32, q.device())
                   : Concatenate(ys, 2);
    return {AsType(JoinHeads(y), dtype, false), AsType(state, state_dtype, false)};
}

Values CausalConvWithState(const Call& call) {
    const Array x = call.X(0);
    const Array w = call.X(1);
    if (x.ndim() != 3 || w.ndim() != 3 || w.shape()[2] < 1) {
        throw DimensionError{"input and weight have shapes ", x.shape(), " and ", w.shape(),
                             ", expected 3 dimensions"};
    }
    const int64_t before = w.shape()[2] - 1;
    const Array past =
        call.Has(3) ? call.X(3)
                    : Zeros(Shape{x.shape()[0], x.shape()[1], before}, x.dtype(), x.device());
    const Array padded = Concatenate(std::vector{past, x}, 2);
    Array y = Conv(padded, w, call.Maybe(2), 1, 0, false, 1, x.shape()[1]);
    const std::string_view activation = call.String("activation", "none");
    if (activation == "silu" || activation == "swish") {
        y = AsType(Silu(AsType(y, Dtype::kFloat32, false)), x.dtype(), false);
    } else if (activation != "none") {
        throw ValueError{"attribute activation is \"", activation,
                         "\", expected none, silu or swish"};
    }
    const int64_t length = padded.shape()[2];
    return {y, padded.At({Slice{}, Slice{}, Slice{length - before, length}})};
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(Attention, 23),
    CX_OPERATOR_SINCE(CausalConvWithState, 27),
    {"FlexAttention", 1, kNewestOpset, &Run<FlexAttention>, false, "ai.onnx.preview"},
    CX_OPERATOR_SINCE(LinearAttention, 27),
    CX_OPERATOR_SINCE(RotaryEmbedding, 23),
};

}  // namespace

std::span<const Operator> AttentionOperators() { return kOperators; }

}  // namespace chainerx::onnx
