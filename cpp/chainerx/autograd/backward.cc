#include "chainerx/autograd/backward.h"

#include "chainerx/autograd/backward_run.h"
#include "chainerx/core/error.h"

namespace chainerx {

using internal::BackwardRun;

namespace {

BackpropId Resolve(const char* op, const std::vector<ConstArrayRef>& arrays,
                   const std::optional<BackpropId>& id) {
    const BackpropId bid = id ? *id
                              : (arrays.empty() ? GetDefaultContext() : arrays[0].get().context())
                                    .default_backprop_id();
    for (const ConstArrayRef& a : arrays) {
        if (&a.get().context() != &bid.context()) {
            throw ContextError{op, ": the backprop id and an array are of different contexts"};
        }
    }
    bid.context().CheckBackpropAllowed(bid);
    return bid;
}

// Returns the gradient that a user has set on an output, null if none.
Array GivenGrad(const Array& output, const BackpropId& id) {
    internal::Slot* slot = output.body()->slot;
    return slot != nullptr ? slot->GetGrad(id.mask()) : Array{};
}

void CheckGradOutput(const Array& output, const Array& grad, size_t i) {
    if (grad.shape() != output.shape()) {
        throw GradientError{"grad: grad_outputs[", i, "] has shape ", grad.shape(), ", the output ",
                            output.shape()};
    }
    if (grad.dtype() != output.dtype()) {
        throw GradientError{"grad: grad_outputs[", i, "] has dtype ", grad.dtype(), ", the output ",
                            output.dtype()};
    }
    if (&grad.device() != &output.device()) {
        throw GradientError{
            "grad: grad_outputs[", i, "] is on ", grad.device().name(), ", the output on ",
            output.device().name()};
    }
}

}  // namespace

void Backward(const std::vector<ConstArrayRef>& outputs, const std::optional<BackpropId>& id,
              DoubleBackpropOption double_backprop, std::optional<double> loss_scale) {
    const BackpropId bid = Resolve("backward", outputs, id);
    const bool twice = double_backprop == DoubleBackpropOption::kEnable;
    BackwardRun run{bid, twice, loss_scale};
    for (const ConstArrayRef& y : outputs) run.AddOutput(y, GivenGrad(y, bid));
    run.Run(true);
    if (!twice) bid.context().SetBackpropDone(bid);
}

void Backward(const Array& output, const std::optional<BackpropId>& id,
              DoubleBackpropOption double_backprop, std::optional<double> loss_scale) {
    Backward(std::vector<ConstArrayRef>{output}, id, double_backprop, loss_scale);
}

std::vector<std::optional<Array>> Grad(const std::vector<ConstArrayRef>& outputs,
                                       const std::vector<ConstArrayRef>& inputs,
                                       const std::optional<BackpropId>& id,
                                       DoubleBackpropOption double_backprop, bool set_grad,
                                       bool retain_grad,
                                       const std::vector<std::optional<Array>>& grad_outputs,
                                       std::optional<double> loss_scale) {
    const BackpropId bid = Resolve("grad", outputs, id);
    if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) {
        throw GradientError{"grad: ", outputs.size(), " outputs but ", grad_outputs.size(),
                            " grad_outputs"};
    }
    const bool twice = double_backprop == DoubleBackpropOption::kEnable;
    BackwardRun run{bid, twice, loss_scale};
    run.set_retain_grad(retain_grad);
    std::vector<internal::Slot*> slots;
    for (const ConstArrayRef& x : inputs) {
        internal::Slot* slot = x.get().body()->slot;
        if (slot != nullptr) slot->DropExpired();
        const bool live = slot != nullptr && (slot->live & bid.mask()) != 0;
        if (live) run.AddTarget(slot);
        slots.push_back(live ? slot : nullptr);
    }
    std::vector<std::optional<Array>> grads(inputs.size());
    bool any = false;
    for (const internal::Slot* s : slots) any |= s != nullptr;
    if (!any) return grads;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Array g;
        if (!grad_outputs.empty() && grad_outputs[i]) {
            g = *grad_outputs[i];
            CheckGradOutput(outputs[i], g, i);
        } else {
            g = GivenGrad(outputs[i], bid);
        }
        run.AddOutput(outputs[i], std::move(g));
    }
    run.Run(set_grad);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (slots[i] == nullptr) continue;
        if (Array g = run.TakeTargetGrad(slots[i]); !g.is_null()) grads[i] = std::move(g);
    }
    if (!twice) bid.context().SetBackpropDone(bid);
    return grads;
}

}  // namespace chainerx
