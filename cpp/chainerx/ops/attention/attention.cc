#include "chainerx/ops/attention/attention.h"

#include <cmath>

#include "chainerx/ops/attention/attention_recorded.h"
#include "chainerx/ops/random/random.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

void CheckArray(const char* name, const Array& x, const Array& query, bool is_grouped) {
    CheckSameDevice(kOp, query.device(), x.device());
    CheckDtype(IsFloat(x.dtype()), kOp, name, x.dtype(), "a real float");
    const int least = is_grouped ? 3 : 2;
    if (x.ndim() < least) {
        throw DimensionError{
            kOp, ": ", name, ".shape is ", x.shape(), ", expected at least ", least, " dimensions"};
    }
}

[[noreturn]] void ThrowPair(const char* name, const Array& x, const char* other_name,
                            const Array& other, const char* what) {
    throw DimensionError{kOp,        ": ",         name,          ".shape is ",  x.shape(), " and ",
                         other_name, ".shape is ", other.shape(), ", expected ", what};
}

// Returns the axes before the last `n`.
Shape Before(const Array& x, int n) { return {x.shape().begin(), x.shape().end() - n}; }

// Broadcasts the axes before the last `n` together.
Shape Joined(const Shape& shape, const char* name, const Array& x, int n, const Array& query) {
    const Shape other = Before(x, n);
    Shape joined = shape.ndim() < other.ndim() ? other : shape;
    const Shape& shorter = shape.ndim() < other.ndim() ? shape : other;
    for (int i = 1; i <= shorter.ndim(); ++i) {
        int64_t& a = joined[joined.ndim() - i];
        const int64_t b = shorter[shorter.ndim() - i];
        if (a == 1) {
            a = b;
        } else if (b != 1 && a != b) {
            ThrowPair(name, x, "query", query, "leading dimensions that broadcast");
        }
    }
    return joined;
}

Array Spread(const Array& x, const Shape& leading, int n) {
    Shape shape = leading;
    for (int i = x.ndim() - n; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    return shape == x.shape() ? x : BroadcastTo(x, shape);
}

void CheckHeads(const Array& query, const Array& key, const Array& value) {
    const auto heads = [](const Array& x) { return x.shape()[x.ndim() - 3]; };
    if (heads(key) != heads(value)) {
        ThrowPair("key", key, "value", value, "as many heads (axis -3)");
    }
    if (heads(key) == 0 ? heads(query) != 0 : heads(query) % heads(key) != 0) {
        ThrowPair("query", query, "key", key,
                  "a number of query heads (axis -3) that is a multiple of that of key heads");
    }
}

void CheckMask(const Array& mask, const Array& query, const Shape& scores) {
    CheckSameDevice(kOp, query.device(), mask.device());
    CheckDtype(IsBool(mask.dtype()) || IsFloat(mask.dtype()), kOp, "attn_mask", mask.dtype(),
               "bool or a real float");
    if (!IsBroadcastable(mask.shape(), scores)) {
        throw DimensionError{kOp, ": attn_mask.shape is ", mask.shape(),
                             ", expected one that broadcasts to ", scores};
    }
}

}  // namespace

Array ScaledDotProductAttention(const Array& query, const Array& key, const Array& value,
                                const std::optional<Array>& mask,
                                const AttentionSettings& settings) {
    const bool is_grouped = settings.is_grouped;
    CheckArray("query", query, query, is_grouped);
    CheckArray("key", key, query, is_grouped);
    CheckArray("value", value, query, is_grouped);
    const int64_t width = query.shape().back();
    if (key.shape().back() != width) {
        ThrowPair("query", query, "key", key, "the same width (axis -1)");
    }
    if (key.shape()[key.ndim() - 2] != value.shape()[value.ndim() - 2]) {
        ThrowPair("key", key, "value", value, "the same length (axis -2)");
    }
    if (is_grouped) CheckHeads(query, key, value);
    const int n = is_grouped ? 3 : 2;
    Shape leading = Joined(Before(query, n), "key", key, n, query);
    leading = Joined(leading, "value", value, n, query);
    const double ratio = settings.dropout;
    if (!(ratio >= 0 && ratio < 1)) {
        throw ValueError{kOp, ": dropout_p is ", ratio, ", expected 0 <= dropout_p < 1"};
    }
    const Dtype dtype = PromoteTypes(PromoteTypes(query.dtype(), key.dtype()), value.dtype());
    const auto prepare = [&](const Array& x) {
        return Spread(AsType(x, dtype, false), leading, n);
    };
    const Array q = prepare(query);
    const Array k = prepare(key);
    const Array v = prepare(value);
    const double scale = settings.scale ? *settings.scale
                         : width == 0   ? 1.0
                                        : 1 / std::sqrt(static_cast<double>(width));
    const Array none;
    const auto attend = [&](const Array& m, const Array& from) {
        return internal::RecordedAttention({q, k, v, m, from, {scale, ratio, settings.is_causal}});
    };
    if (mask) {
        const internal::AttentionInputs in{q, k, v, none, none, {}};
        CheckMask(*mask, query, in.scores_shape());
    }
    return attend(mask ? *mask : none,
                  ratio > 0 ? random::DrawKey(q.device(), settings.key) : none);
}

}  // namespace chainerx
