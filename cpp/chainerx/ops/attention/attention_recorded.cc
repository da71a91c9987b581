#include "chainerx/ops/attention/attention_recorded.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/kernels/attention/attention.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/concat_views.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kAttention{"scaled_dot_product_attention", &kernels::Attention::kInfo};

// Indices of the node's inputs; the mask is an input only if it is a float.
enum Place : int { kQ, kK, kV, kMask, kPlaces };

Array None(const Array& like) { return EmptyUnchecked(Shape{0}, like.dtype(), like.device()); }

// Allocates the result with rows of `width` elements in the layout of q, so that heads which are
// views of a matrix's rows need no copy when they are merged again.
Array EmptyRows(const Array& q, int64_t width) {
    if (width == q.shape().back()) return EmptyRowsLike(q);
    Shape shape = q.shape();
    shape.back() = width;
    return EmptyUnchecked(shape, q.dtype(), q.device());
}

// Returns the mask broadcast to the scores, as the kernel takes it.
Array MaskOf(const AttentionInputs& in) {
    if (in.mask.is_null()) return None(in.q);
    const Shape shape = in.scores_shape();
    return MakeView(in.mask, shape, BroadcastStrides(in.mask.shape(), in.mask.strides(), shape),
                    in.mask.raw_data());
}

Array KeyOf(const AttentionInputs& in) {
    return in.key.is_null() ? EmptyUnchecked(Shape{0}, Dtype::kUInt64, in.q.device()) : in.key;
}

bool IsResult(const Array& x) {
    const Slot* slot = x.body()->slot;
    return slot != nullptr && slot->node != nullptr;
}

struct SavedAttention {
    AttentionOptions options;
    Saved q;
    Saved k;
    Saved v;
    Saved float_mask;
    std::optional<KeptOperand> bool_mask;
    bool has_float_mask;
    Array key;
    Saved y;
    Array stats;

    void operator()(GradContext& context) const {
        const Array in[kPlaces] = {q(), k(), v(), has_float_mask ? float_mask() : Array{}};
        bool is_recorded = IsBackpropRequiredAny(context.output_grad());
        for (int i = 0; i < context.input_count(); ++i) is_recorded |= IsBackpropRequiredAny(in[i]);
        if (is_recorded) {
            Differentiate(context, in);
        } else {
            Compute(context, in);
        }
    }

 private:
    Array MaskOfInputs(const Array (&in)[kPlaces]) const {
        return has_float_mask ? in[kMask] : bool_mask ? (*bool_mask)() : Array{};
    }
    void Compute(GradContext& context, const Array (&in)[kPlaces]) const;
    void Differentiate(GradContext& context, const Array (&in)[kPlaces]) const;
};

void SavedAttention::Compute(GradContext& context, const Array (&in)[kPlaces]) const {
    const Array mask = MaskOfInputs(in);
    const AttentionInputs inputs{in[kQ], in[kK], in[kV], mask, key, options};
    const Array x[] = {Detached(in[kQ]), Detached(in[kK]), Detached(in[kV])};
    const Array scores_mask = MaskOf(inputs);
    const Array from = KeyOf(inputs);
    const Array result = Detached(y());
    const Array gy = Detached(context.output_grad());
    const auto wanted = [&](int i) { return context.IsInputGradRequired(i); };
    if (wanted(kQ) || wanted(kK) || wanted(kV)) {
        // Gradients of results are adjacent in memory as the arrays themselves are. Gradients of
        // leaves, which the user keeps one by one, are arrays of their own.
        std::vector<Array> like;
        Array grads[kMask];
        for (int i = 0; i < kMask; ++i) {
            if (!wanted(i)) {
                grads[i] = None(x[i]);
            } else if (IsResult(in[i])) {
                like.push_back(x[i]);
            } else {
                grads[i] = EmptyRowsLike(x[i]);
            }
        }
        std::vector<Array> parts = EmptyPartsLike(like);
        auto next = parts.begin();
        for (Array& g : grads) {
            if (g.is_null()) g = std::move(*next++);
        }
        parts.clear();
        CallOn<kernels::AttentionGrad>(result.device(), x[kQ], x[kK], x[kV], scores_mask, from,
                                       options, result, stats, gy, grads[kQ], grads[kK], grads[kV]);
        for (int i = 0; i < kMask; ++i) {
            if (wanted(i)) context.SetInputGrad(i, std::move(grads[i]));
        }
    }
    if (!has_float_mask || !wanted(kMask)) return;
    Shape shape = mask.shape();
    while (shape.ndim() < scores_mask.ndim()) shape.insert(0, 1);
    if (shape.GetTotalSize() == 0 || scores_mask.GetTotalSize() == 0) {
        context.SetInputGrad(kMask, Zeros(mask.shape(), mask.dtype(), mask.device()));
        return;
    }
    const Array gmask = EmptyUnchecked(shape, mask.dtype(), mask.device());
    CallOn<kernels::AttentionMaskGrad>(result.device(), x[kQ], x[kK], x[kV], scores_mask, from,
                                       options, result, stats, gy, gmask);
    context.SetInputGrad(kMask, Reshape(gmask, mask.shape()));
}

// Computes differentiable gradients, by differentiating the composition.
void SavedAttention::Differentiate(GradContext& context, const Array (&in)[kPlaces]) const {
    // Uses a separate graph beside those that are recorded now.
    Context& cx = in[kQ].context();
    const BackpropScope scope{"composition", cx};
    const BackpropId& id = scope.backprop_id();
    const BackpropModeScope recorded{cx, id.mask(), true};
    Array views[kPlaces];  // the inputs themselves must not become leaves
    std::vector<ConstArrayRef> targets;
    std::vector<int> places;
    for (int i = 0; i < context.input_count(); ++i) {
        views[i] = MakeView(in[i]);
        if (!context.IsInputGradRequired(i)) continue;
        views[i].RequireGrad(id);
        targets.emplace_back(views[i]);
        places.push_back(i);
    }
    const Array mask = MaskOfInputs(views);
    const Array result = ComposedAttention({views[kQ], views[kK], views[kV], mask, key, options});
    const std::vector<ConstArrayRef> from{result};
    const std::vector<std::optional<Array>> found =
        Grad(from, targets, id, DoubleBackpropOption::kDisable, false, false,
             std::vector<std::optional<Array>>{context.output_grad()});
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i]) context.SetInputGrad(places[i], *found[i]);
    }
}

}  // namespace

Array RecordedAttention(const AttentionInputs& in) {
    Device& device = in.q.device();
    if (!HasKernel<kernels::Attention>(device) || !HasKernel<kernels::AttentionGrad>(device) ||
        !HasKernel<kernels::AttentionMaskGrad>(device)) {
        return ComposedAttention(in);
    }
    const bool has_float_mask = !in.mask.is_null() && in.mask.dtype() != Dtype::kBool;
    const ConstArrayRef all[] = {in.q, in.k, in.v, has_float_mask ? in.mask : in.v};
    const std::span<const ConstArrayRef> inputs{all, has_float_mask ? size_t{4} : size_t{3}};
    bool is_recorded = false;
    for (const Array& x : inputs) is_recorded |= IsBackpropRequiredAny(x);

    const Array y = EmptyRows(in.q, in.v.shape().back());
    Shape rows = in.q.shape();
    rows.pop_back();
    const Dtype wide = in.q.dtype() == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
    const Array stats = EmptyUnchecked(is_recorded ? rows : Shape{0}, wide, device);
    CallOn<kernels::Attention>(device, Detached(in.q), Detached(in.k), Detached(in.v), MaskOf(in),
                               KeyOf(in), in.options, y, stats);
    if (!is_recorded) return y;
    if (Record rec{kAttention, inputs, {&y, 1}}) {
        SavedAttention keep{in.options, rec.Save(in.q), rec.Save(in.k), rec.Save(in.v),    {},
                            {},         has_float_mask, in.key,         rec.SaveOutput(y), stats};
        if (has_float_mask) {
            keep.float_mask = rec.Save(in.mask);
        } else if (!in.mask.is_null()) {
            keep.bool_mask.emplace(kAttention.name, "attn_mask", in.mask);
        }
        rec.GradAll(std::move(keep));
    }
    return y;
}

}  // namespace chainerx::internal
