// Differentiable gradients of an operation that is one kernel, by differentiating the composition
// that it equals.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/record.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/array.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::internal {

// Returns whether the gradients, computed from these inputs, must be recorded in a graph.
inline bool IsGradRecorded(GradContext& context, const std::vector<Array>& inputs) {
    for (const Array& x : inputs) {
        if (IsBackpropRequiredAny(x)) return true;
    }
    for (int i = 0; i < context.output_count(); ++i) {
        if (context.HasOutputGrad(i) && IsBackpropRequiredAny(context.output_grad(i))) return true;
    }
    return false;
}

// `inputs` are the node's inputs; compose(inputs) must return the node's outputs in a vector.
void GradOfComposition(GradContext& context, const std::vector<Array>& inputs,
                       const auto& compose) {
    // Uses a separate graph beside those that are recorded now.
    Context& cx = inputs[0].context();
    const BackpropScope scope{"composition", cx};
    const BackpropId& id = scope.backprop_id();
    const BackpropModeScope recorded{cx, id.mask(), true};
    std::vector<Array> views;  // the inputs themselves must not become leaves
    std::vector<ConstArrayRef> targets;
    std::vector<int> places;
    views.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        views.push_back(MakeView(inputs[i]));
        if (!context.IsInputGradRequired(static_cast<int>(i))) continue;
        views[i].RequireGrad(id);
        targets.emplace_back(views[i]);
        places.push_back(static_cast<int>(i));
    }
    const std::vector<Array> outputs = compose(views);
    std::vector<ConstArrayRef> from;
    std::vector<std::optional<Array>> grads;
    for (int i = 0; i < context.output_count(); ++i) {
        if (!context.HasOutputGrad(i)) continue;
        from.emplace_back(outputs[static_cast<size_t>(i)]);
        grads.emplace_back(context.output_grad(i));
    }
    if (from.empty()) return;
    const std::vector<std::optional<Array>> found =
        Grad(from, targets, id, DoubleBackpropOption::kDisable, false, false, grads);
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i]) context.SetInputGrad(places[i], *found[i]);
    }
}

}  // namespace chainerx::internal
