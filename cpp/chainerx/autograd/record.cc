#include "chainerx/autograd/record.h"

#include <algorithm>

#include "chainerx/autograd/record_observer.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

using internal::AliasOf;
using internal::ArrayBody;
using internal::Edge;
using internal::Node;
using internal::Slot;
using internal::t_state;

namespace {

CX_COLD void NotifyObservers(std::span<const ConstArrayRef> inputs) {
    for (auto* observer = t_state.record_observer; observer != nullptr;
         observer = observer->outer())
        observer->Called(inputs);
}

CX_COLD void NotifyObservers(Node* node, std::span<const ConstArrayRef> inputs,
                             std::span<const Array> outputs) {
    for (auto* observer = t_state.record_observer; observer != nullptr;
         observer = observer->outer()) {
        observer->Recorded(node, inputs, outputs);
    }
}

}  // namespace

void Record::Begin(const OpInfo& op, std::span<const ConstArrayRef> inputs,
                   std::span<const Array> outputs, uint64_t allowed_ids) {
    if (t_state.record_observer != nullptr) [[unlikely]]
        NotifyObservers(inputs);
    Context* context = outputs[0].device().context();
    const uint64_t recorded = internal::RecordMask(context) & allowed_ids;
    uint64_t mask = 0;
    for (const ConstArrayRef& x : inputs) {
        if (Slot* slot = x.get().body()->slot) {
            slot->CheckNotExpired(op.name);
            mask |= slot->live.load(std::memory_order_relaxed) & recorded;
        }
    }
    if (mask == 0) return;
    // The edges of functions do not depend on the dtype; gradients of integers are integers.
    internal::Region* region = t_state.region;
    if (region == nullptr &&
        std::ranges::none_of(outputs, [](const Array& y) { return IsDifferentiable(y.dtype()); })) {
        return;
    }
    if ((mask & (mask - 1)) != 0) context->ConnectBackpropIds(mask);

    Node* const node = Node::Make(&op, inputs.size(), outputs.size());
    uint64_t sequence = t_state.node_sequence;
    int64_t rank = 0;
    bool foreign_below = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ArrayBody* x = inputs[i].get().body();
        if (i < kKnownInputs) inputs_[i] = x;
        Slot* slot = x->slot;
        const uint64_t m =
            slot == nullptr ? 0 : slot->live.load(std::memory_order_relaxed) & recorded;
        if (m == 0) {
            new (node->edges() + i) Edge;
            continue;
        }
        new (node->edges() + i) Edge{slot, m};
        slot->Ref();
        if (const Node* creator = slot->node) {
            sequence = std::max(sequence, creator->sequence);
            rank = std::max(rank, creator->rank);
            foreign_below |= creator->foreign_below;
        }
    }
    node->sequence = t_state.node_sequence = sequence + 1;
    node->rank = rank + 1;
    node->mask.store(mask, std::memory_order_relaxed);
    if (region != nullptr) {
        region->RefNode();
        node->region = region;
        foreign_below |= region->foreign;
    }
    node->foreign_below = foreign_below;
    for (size_t i = 0; i < outputs.size(); ++i) {
        ArrayBody& body = *outputs[i].body();
        Slot* slot = new (node->outputs() + i) Slot{body, mask};
        slot->node = node;
        slot->index = static_cast<uint32_t>(i);
        if (region == nullptr && !IsDifferentiable(body.dtype)) {
            slot->live.store(0, std::memory_order_relaxed);
            slot->body = nullptr;
        } else {
            body.slot = slot;
            if (i != 0) node->Ref();
        }
    }
    // The first output took no reference.
    if (outputs[0].body()->slot == nullptr) node->Unref();
    node_ = node;
    if (t_state.record_observer != nullptr) [[unlikely]]
        NotifyObservers(node, inputs, outputs);
}

int32_t Record::PlaceOf(const Array& x) const {
    const uint32_t n = node_->n_inputs;
    for (uint32_t i = 0; i < std::min(n, kKnownInputs); ++i) {
        if (inputs_[i] == x.body()) return static_cast<int32_t>(i);
    }
    if (x.body()->slot != nullptr) {
        for (uint32_t i = 0; i < n; ++i) {
            if (node_->edges()[i].slot == x.body()->slot) return static_cast<int32_t>(i);
        }
    }
    return Saved::kNeither;
}

Saved Record::Save(const Array& x) {
    Saved s;
    s.body_ = x.body();
    s.body_->RefMemory();
    s.node_ = node_;
    s.version_ = x.buffer()->version();
    s.place_ = PlaceOf(x);
    if (s.place_ < 0 || node_->edges()[s.place_].slot == nullptr) {
        s.body_->loosely_saved.store(true, std::memory_order_relaxed);
    }
    return s;
}

Saved Record::SaveOutput(const Array& y) {
    Saved s;
    s.body_ = y.body();
    s.body_->RefMemory();
    s.node_ = node_;
    s.version_ = y.buffer()->version();
    const Slot* slot = y.body()->slot;
    if (slot != nullptr) s.place_ = Saved::kOutput - static_cast<int32_t>(slot->index);
    if (slot == nullptr || slot->node != node_) {
        s.body_->loosely_saved.store(true, std::memory_order_relaxed);
    }
    return s;
}

namespace {

constexpr OpInfo kIdentity{"identity", nullptr, Batching::kElementwise};

Array AliasOn(ArrayBody* body, Slot* slot) {
    Array a = AliasOf(*body);
    slot->Ref();
    a.body()->slot = slot;
    slot->lock.lock();
    if (slot->body == nullptr) slot->body = a.body();
    slot->lock.unlock();
    return a;
}

// Returns whether the array has entered further graphs since it was recorded. Ids that have been
// released since, and dropped, make no difference.
bool IsWider(const Slot* slot, const Edge* edge) {
    return (slot->live.load(std::memory_order_relaxed) & ~edge->mask) != 0;
}

}  // namespace

Array Saved::operator()() const {
    if (body_->buffer->version() != version_) [[unlikely]]
        ThrowWritten();
    const Edge* edge = place_ >= 0 ? node_->edges() + place_ : nullptr;
    Slot* slot = edge != nullptr     ? edge->slot
                 : place_ <= kOutput ? node_->outputs() + (kOutput - place_)
                                     : nullptr;
    const bool alive = body_->TryRef();
    Array held{alive ? body_ : nullptr};
    // As we own a memory count, the body itself is valid even without strong handles; only its slot
    // may not be.
    if (alive && body_->slot == slot) {
        if (slot == nullptr || edge == nullptr || !IsWider(slot, edge)) return held;
    }
    if (slot == nullptr) return AliasOf(*body_);
    Array a = AliasOn(body_, slot);
    // require_grad() was called after the recording, or the mode was narrower during it: only the
    // recorded graphs count.
    if (edge != nullptr && IsWider(slot, edge)) {
        const Array narrow = AliasOf(*body_);
        const ConstArrayRef in{a};
        Record rec{kIdentity, std::span{&in, 1}, std::span{&narrow, 1}, edge->mask};
        if (rec) rec.Grad(0, [](const Array& gy) { return gy; });
        return narrow;
    }
    return a;
}

namespace {

[[noreturn]] CX_COLD void ThrowWrittenOperand(const char* op, const std::string& operand,
                                              const Shape& shape, Dtype dtype) {
    throw GradientError{op,
                        ": ",
                        operand,
                        ", of shape ",
                        shape,
                        " and dtype ",
                        dtype,
                        ", has been written in place since the forward computation, whose values "
                        "the gradient needs; write to a copy() of it, or before that computation"};
}

}  // namespace

void Saved::ThrowWritten() const {
    const std::string operand = place_ >= 0            ? StrCat("input ", place_)
                                : place_ == kNeither   ? "an operand"
                                : node_->n_outputs > 1 ? StrCat("output ", kOutput - place_)
                                                       : "the output";
    ThrowWrittenOperand(node_->op->name, operand, body_->shape, body_->dtype);
}

void KeptOperand::ThrowWritten() const {
    ThrowWrittenOperand(op_, name_, array_.shape(), array_.dtype());
}

bool internal::IsBackpropRequiredAny(const Array& x) {
    const Slot* slot = x.body()->slot;
    return slot != nullptr && (slot->live & RecordMask(x.device().context())) != 0;
}

void internal::ThrowInPlace(const char* op, const Array& x) {
    x.body()->slot->DropExpired();
    if (x.body()->slot->live == 0) return;  // its graphs are gone
    throw ChainerxError{op, ": in-place operation on an array of shape ", x.shape(),
                        " that is connected to a graph; write to x.as_grad_stopped(), or compute a "
                        "new array"};
}

void internal::ThrowReadOnly(const char* op, const Array& x) {
    if (x.body()->read_only) {
        throw ChainerxError{
            op,          ": several elements of the array of shape ",
            x.shape(),   ", or of one that it is a view of, share memory (its strides are ",
            x.strides(), "), so it is read-only; write to a copy()"};
    }
    throw ChainerxError{op, ": the memory of the array of shape ", x.shape(),
                        " is read-only; write to a copy()"};
}

void internal::CheckInPlaceInputSlow(const char* op, const Array& x) {
    if (!IsBackpropRequiredAny(x)) return;
    throw ChainerxError{op, ": in-place operation with an operand of shape ", x.shape(),
                        " that requires backprop, which would not be recorded; use "
                        "as_grad_stopped() on it, or no_backprop_mode()"};
}

}  // namespace chainerx
