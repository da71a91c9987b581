// Methods of Array for gradients.
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/autograd/graph_view.h"
#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

using internal::CurrentSlot;
using internal::Slot;

namespace {

BackpropId Resolve(const char* op, const Array& x, const std::optional<BackpropId>& id) {
    x.device().CheckAlive(op);
    if (!id) return x.context().default_backprop_id();
    if (&id->context() != &x.context()) {
        throw ContextError{op, ": the backprop id and the array are of different contexts"};
    }
    id->CheckValid();
    return *id;
}

}  // namespace

Slot* internal::CurrentSlot(const Array& x) {
    Slot* slot = x.body()->slot;
    if (slot != nullptr) slot->DropExpired();
    return slot;
}

const Array& Array::RequireGrad(const std::optional<BackpropId>& id) const {
    if (!IsDifferentiable(dtype())) {
        throw DtypeError{"require_grad: dtype is ", dtype(),
                         ", only floating point and complex arrays have gradients"};
    }
    const BackpropId bid = Resolve("require_grad", *this, id);
    Slot* slot = CurrentSlot(*this);
    if (slot == nullptr) slot = internal::MakeLeafSlot(*body_);
    slot->live |= bid.mask();
    slot->required |= bid.mask();
    return *this;
}

bool Array::IsGradRequired(const std::optional<BackpropId>& id) const {
    const BackpropId bid = Resolve("is_grad_required", *this, id);
    const Slot* slot = CurrentSlot(*this);
    return slot != nullptr && (slot->required & bid.mask()) != 0;
}

bool Array::IsBackpropRequired(const std::optional<BackpropId>& id) const {
    const BackpropId bid = Resolve("is_backprop_required", *this, id);
    const Slot* slot = CurrentSlot(*this);
    return slot != nullptr && (slot->live & bid.mask() & internal::RecordMask(&context())) != 0;
}

bool Array::IsBackpropRequired(AnyGraph) const {
    const Slot* slot = CurrentSlot(*this);
    return slot != nullptr && (slot->live & internal::RecordMask(&context())) != 0;
}

std::optional<Array> Array::GetGrad(const std::optional<BackpropId>& id) const {
    const BackpropId bid = Resolve("grad", *this, id);
    Slot* slot = CurrentSlot(*this);
    Array g = slot != nullptr ? slot->GetGrad(bid.mask()) : Array{};
    if (!g.is_null()) return g;
    if (slot == nullptr || (slot->required & bid.mask()) == 0) {
        throw ChainerxError{"grad: no gradient is required of this array of shape ", shape(),
                            " for backprop id '", bid.GetName(), "'; call require_grad() first"};
    }
    return std::nullopt;
}

void Array::SetGrad(const Array& grad, const std::optional<BackpropId>& id) const {
    const BackpropId bid = Resolve("grad", *this, id);
    Slot* slot = CurrentSlot(*this);
    if (slot == nullptr || (slot->live & bid.mask()) == 0) {
        throw ChainerxError{"grad: this array of shape ", shape(),
                            " is not in the graph of backprop id '", bid.GetName(),
                            "'; call require_grad() first"};
    }
    if (grad.dtype() != dtype()) {
        throw GradientError{"grad: dtype of the gradient is ", grad.dtype(), ", of the array ",
                            dtype()};
    }
    if (grad.shape() != shape()) {
        throw GradientError{"grad: shape of the gradient is ", grad.shape(), ", of the array ",
                            shape()};
    }
    if (&grad.device() != &device()) {
        throw GradientError{"grad: the gradient is on ", grad.device().name(), ", the array on ",
                            device().name()};
    }
    internal::TakePlace(*body());
    slot->required |= bid.mask();
    slot->SetGrad(bid.mask(), grad);
}

void Array::ClearGrad(const std::optional<BackpropId>& id) const {
    const BackpropId bid = Resolve("cleargrad", *this, id);
    Slot* slot = CurrentSlot(*this);
    if (slot == nullptr || (slot->live & bid.mask()) == 0) {
        throw ChainerxError{"cleargrad: this array of shape ", shape(),
                            " is not in the graph of backprop id '", bid.GetName(), "'"};
    }
    slot->SetGrad(bid.mask(), Array{});
}

Array Array::AsGradStopped(CopyKind kind) const {
    if (kind == CopyKind::kView) return internal::Detached(*this);
    return internal::engine_ops::Copy(internal::Detached(*this));
}

Array Array::AsGradStopped(const std::vector<BackpropId>& ids, CopyKind kind) const {
    uint64_t stopped = 0;
    for (const BackpropId& id : ids) stopped |= Resolve("as_grad_stopped", *this, id).mask();
    if (Slot* slot = CurrentSlot(*this)) stopped |= ~slot->live;
    const Array y = AsGradStopped(kind);
    const ConstArrayRef in{*this};
    // An identity with a smaller mask: only the remaining graphs go on.
    static constexpr OpInfo kOp{"as_grad_stopped", nullptr, Batching::kElementwise};
    Record rec{kOp, std::span{&in, 1}, std::span{&y, 1}, ~stopped};
    if (rec) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

}  // namespace chainerx
