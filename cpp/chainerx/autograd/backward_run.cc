#include "chainerx/autograd/backward_run.h"

#include <algorithm>

#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/hooks.h"
#include "chainerx/autograd/region.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/autograd/unique_owner.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"

namespace chainerx {

const Array& GradContext::output_grad(int i) {
    Array& g = output_grads_[i];
    if (g.is_null()) {
        const internal::Slot& s = node_->outputs()[i];
        g = internal::engine_ops::Full(s.shape, 0, s.dtype, *s.device);
    }
    return g;
}

void GradContext::SetInputGrad(int i, Array gx) { run_.AddInputGrad(node_, i, std::move(gx)); }

void GradContext::SetGradOf(internal::GradFn* fn,
                            Array (*compute)(internal::GradFn* fn, const Array& gy)) {
    if (IsInputGradRequired(fn->input)) SetInputGrad(fn->input, compute(fn, output_grad()));
}

bool GradContext::IsOnTheWay(internal::Slot* slot) const { return run_.IsOnTheWay(slot); }

namespace internal {

BackwardRun::BackwardRun(const BackpropId& id, bool double_backprop,
                         std::optional<double> loss_scale)
    : id_{id},
      bit_{id.mask()},
      double_backprop_{double_backprop},
      stays_{double_backprop},
      observer_{RunObserver::current()},
      loss_scale_{loss_scale} {
    nodes_.reserve(8);
    slots_.reserve(16);
    queue_.reserve(8);
}

namespace {

// Some 20 us if the nodes have little to do. Long kernels check themselves.
constexpr uint32_t kNodesPerCheck = 64;

// Called before an object is claimed: if this ran out of memory afterwards, the claim would outlive
// the run.
template <typename T>
void MakeRoom(std::vector<T>& places) {
    if (places.size() == places.capacity()) [[unlikely]]
        places.reserve(2 * places.size());
}

void Disclaim(RunClaim& claim, const BackwardRun* run) {
    if (claim.run.load(std::memory_order_relaxed) == run) {
        claim.run.store(nullptr, std::memory_order_release);
    }
}

}  // namespace

BackwardRun::~BackwardRun() {
    if (observed_ != nullptr) observed_->Unref();
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].node != nullptr) Forget(i);
    }
    for (Node* node : taken_) {  // not empty: the run has failed
        node->GiveBackIds(bit_);
        node->Leave();
        node->Unref();
    }
    for (const SlotState& s : slots_) {
        Disclaim(s.slot->claim, this);
        s.slot->Unref();
    }
}

// Marks the end of the run's work on a node.
void BackwardRun::Forget(uint32_t state) {
    NodeState& s = nodes_[state];
    Node* node = std::exchange(s.node, nullptr);
    const bool taken = s.taken;
    s.next_free = std::exchange(free_node_, state);
    if (!contended_.empty()) [[unlikely]]
        contended_.erase(node);
    Disclaim(node->claim, this);
    if (!taken) node->Unref();
}

uint32_t BackwardRun::IndexOf(auto* object, bool* is_new, size_t next) {
    const auto index = static_cast<uint32_t>(next);
    *is_new = false;
    if (contended_.empty()) [[likely]] {
        BackwardRun* owner = object->claim.run.load(std::memory_order_acquire);
        if (owner == this) return object->claim.index;
        if (owner == nullptr && object->claim.run.compare_exchange_strong(owner, this)) {
            object->claim.index = index;
            *is_new = true;
            return index;
        }
    } else if (object->claim.run.load(std::memory_order_acquire) == this) {
        return object->claim.index;
    }
    return ContendedIndexOf(object, is_new, index);
}

uint32_t BackwardRun::ContendedIndexOf(const void* object, bool* is_new, uint32_t next) {
    const auto [it, added] = contended_.emplace(object, next);
    *is_new = added;
    return it->second;
}

uint32_t BackwardRun::StateOf(Node* node) {
    bool is_new;
    MakeRoom(nodes_);
    const uint32_t i = IndexOf(node, &is_new, free_node_ == kNoNode ? nodes_.size() : free_node_);
    if (!is_new) return i;
    if (free_node_ == kNoNode) {
        nodes_.emplace_back();
    } else {
        free_node_ = nodes_[i].next_free;
    }
    node->Ref();
    NodeState& s = nodes_[i];
    s.node = node;
    s.queued = false;
    s.needed = !has_targets_;
    s.taken = false;
    if (node->n_outputs > 1) s.more_grads = std::make_unique<Array[]>(node->n_outputs - 1);
    return i;
}

uint32_t BackwardRun::StateOf(Slot* slot) {
    bool is_new;
    MakeRoom(slots_);
    const uint32_t i = IndexOf(slot, &is_new, slots_.size());
    if (is_new) {
        slot->Ref();
        slots_.push_back({slot, {}, {}, {}, false, false, false});
    }
    return i;
}

bool BackwardRun::HasState(Slot* slot) {
    return slot->claim.run.load(std::memory_order_relaxed) == this || contended_.contains(slot);
}

// Returns whether the creator of `slot` still has to be run for this id.
bool BackwardRun::IsLive(Slot* slot) const {
    return slot->node != nullptr && !slot->cut.load(std::memory_order_relaxed) &&
           (slot->node->mask.load(std::memory_order_acquire) & bit_) != 0;
}

// Throws if the creator of the array was released: the graph beyond is unknown, and gradients there
// would silently lack the contributions of this path.
void BackwardRun::CheckNotSpent(Slot* slot) const {
    if (slot->node == nullptr || !slot->node->IsClaimed(bit_)) return;
    if (slot->cut.load(std::memory_order_relaxed)) return;
    throw GradientError{"backward: the graph was released at operation '", slot->node->op->name,
                        "', whose result has shape ", slot->shape,
                        ", by an earlier backward, or is in use by one in another thread; "
                        "enable_double_backprop=True there keeps the graph, as_grad_stopped() on "
                        "the array ends it there"};
}

void BackwardRun::AddTarget(Slot* slot) {
    has_targets_ = true;
    slots_[StateOf(slot)].target = true;
}

namespace {

// Returns whether the elements fill one contiguous block of memory, in any order of the axes.
bool IsDense(const ArrayBody& b) {
    bool found[kMaxNdim] = {};
    int64_t expected = GetItemSize(b.dtype);
    for (int8_t n = b.shape.ndim(); n > 0; --n) {
        int8_t i = 0;
        while (i < b.shape.ndim() && (found[i] || (b.shape[i] > 1 && b.strides[i] != expected)))
            ++i;
        if (i == b.shape.ndim()) return false;
        found[i] = true;
        expected *= b.shape[i];
    }
    return true;
}

}  // namespace

void BackwardRun::Accumulate(Array& sum, Array&& g) {
    if (sum.is_null()) {
        std::swap(sum, g);
    } else {
        AddTo(sum, g);
    }
}

void BackwardRun::AddTo(Array& sum, const Array& g) {
    // Adds in place only to an array that this run has made, and that nobody else holds.
    const bool own = HasUniqueOwner(sum) && (sum.IsContiguous() || IsDense(*sum.body()));
    if (own && g.body()->slot == nullptr && g.dtype() == sum.dtype()) {
        engine_ops::AddInPlace(sum, g);
    } else {
        sum = engine_ops::Add(sum, g);
    }
}

void BackwardRun::Enqueue(uint32_t state) {
    NodeState& s = nodes_[state];
    if (s.queued) return;
    s.queued = true;
    queue_.emplace_back(s.node->sequence, state);
    std::push_heap(queue_.begin(), queue_.end());
}

void BackwardRun::AddGrad(Slot* slot, Array&& g) {
    if (IsLive(slot)) {
        const uint32_t state = StateOf(slot->node);
        if (nodes_[state].needed) {
            Accumulate(nodes_[state].GradOf(slot->index), std::move(g));
            Enqueue(state);
            return;
        }
    }
    // The path ends here.
    if (!has_targets_) CheckNotSpent(slot);
    const bool wanted = has_targets_ ? HasState(slot) : (slot->required & bit_) != 0;
    if (wanted) Accumulate(slots_[StateOf(slot)].grad, std::move(g));
}

void BackwardRun::AddOutput(const Array& output, Array grad, bool own) {
    Slot* slot = output.body()->slot;
    if (slot == nullptr) return;
    slot->DropExpired();
    if ((slot->live & bit_) == 0) return;
    if (grad.is_null()) {
        grad = engine_ops::Full(output.shape(), loss_scale_.value_or(1.0), output.dtype(),
                                output.device());
    }
    slots_[StateOf(slot)].output |= own;
    if (IsLive(slot)) {
        const uint32_t state = StateOf(slot->node);
        Accumulate(nodes_[state].GradOf(slot->index), std::move(grad));
        Enqueue(state);
    } else {
        if (!slots_[StateOf(slot)].target) CheckNotSpent(slot);
        Accumulate(slots_[StateOf(slot)].grad, std::move(grad));
    }
}

void BackwardRun::AddTargetGrad(Slot* slot, Array grad) {
    target_grads_.emplace_back(slot, std::move(grad));
}

// Adds the gradient that the target has from elsewhere to the one that has arrived.
void BackwardRun::AddTargetGrads(Slot* slot, Array& grad) {
    for (auto& [target, g] : target_grads_) {
        if (target == slot && !g.is_null()) Accumulate(grad, std::exchange(g, Array{}));
    }
}

bool BackwardRun::IsOnTheWay(Slot* slot) {
    if (HasState(slot) && slots_[StateOf(slot)].target) return true;
    if (IsLive(slot)) return nodes_[StateOf(slot->node)].needed;
    CheckNotSpent(slot);  // a run in another thread may have come first
    return false;
}

// Marks the nodes from which a target can be reached; no others are run.
void BackwardRun::FindNeeded() {
    for (size_t i = 0; i < nodes_.size(); ++i) {  // nodes_ grows during the loop
        if (i % kNodesPerCheck == kNodesPerCheck - 1) CheckInterrupt();
        Node* node = nodes_[i].node;
        const NodeVisit visit{node};
        for (uint32_t k = 0; visit && k < node->n_inputs; ++k) {
            const Edge& e = node->edges()[k];
            if (e.slot == nullptr || (e.mask & bit_) == 0) continue;
            if (IsLive(e.slot)) {
                StateOf(e.slot->node);
            } else if (!HasState(e.slot) || !slots_[StateOf(e.slot)].target) {
                CheckNotSpent(e.slot);
            }
        }
    }
    std::vector<uint32_t> order(nodes_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return nodes_[a].node->sequence < nodes_[b].node->sequence;
    });
    for (uint32_t i : order) {
        Node* node = nodes_[i].node;
        const NodeVisit visit{node};
        if (!visit) {
            CheckNotSpent(node->outputs());
            continue;
        }
        bool needed = false;
        for (uint32_t k = 0; k < node->n_outputs; ++k) {
            Slot* out = node->outputs() + k;
            needed |= HasState(out) && slots_[StateOf(out)].target;
        }
        for (uint32_t k = 0; k < node->n_inputs && !needed; ++k) {
            const Edge& e = node->edges()[k];
            if (e.slot == nullptr || (e.mask & bit_) == 0) continue;
            needed = IsOnTheWay(e.slot);
        }
        nodes_[i].needed = needed;
    }
}

void BackwardRun::Run(bool store) {
    if (has_targets_) FindNeeded();
    Context* context = &id_.context();
    // Without double backprop, gradients are recorded only in the graphs of outer ids.
    const uint64_t off = double_backprop_ ? 0
                         : not_recorded_  ? *not_recorded_
                                          : ~context->OuterIds(id_.ordinal());
    const BackpropModeScope mode{*context, off, false};
    const DifferentiatingScope differentiating;
    const RegionScope no_region{nullptr};
    for (auto& [target, g] : target_grads_) {
        if (loss_scale_) g = engine_ops::Multiply(g, *loss_scale_);  // scaled as the others are
    }
    for (uint32_t n = 1; !queue_.empty(); ++n) {
        if (n % kNodesPerCheck == 0) CheckInterrupt();
        const uint32_t state = queue_.front().second;
        // Another node of the function may be the first in the queue now.
        if (use_given_grads_ && AddGivenGrads(nodes_[state].node)) continue;
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
        Process(state);
    }
    EndObserved();
    for (auto& [target, g] : target_grads_) {  // leaves, and targets that no gradient has reached
        if (!g.is_null()) Accumulate(slots_[StateOf(target)].grad, std::exchange(g, Array{}));
    }
    for (SlotState& s : slots_) {
        if (s.grad.is_null() || s.hooked || !s.slot->hooked.load(std::memory_order_relaxed))
            continue;
        s.grad = RunGradHooks(*s.slot, id_, std::move(s.grad));
    }
    for (SlotState& s : slots_) {
        if (!s.grad.is_null() && loss_scale_)
            s.grad = engine_ops::Multiply(s.grad, 1.0 / *loss_scale_);
    }
    // Stores gradients last, after all sums, so that a run that fails changes no gradient.
    const auto is_wanted = [&](const SlotState& s) {
        return store && !s.grad.is_null() &&
               (has_targets_ ? s.target : (s.slot->required & bit_) != 0);
    };
    for (SlotState& s : slots_) {
        if (!is_wanted(s) || s.output) continue;
        s.before = s.slot->GetGrad(bit_);
        s.sum = Slot::SumOfGrads(s.before, s.grad);
    }
    const NoInterruptScope all_of_them;  // an interrupt must not leave some of them stored
    for (SlotState& s : slots_) {
        if (!s.sum.is_null()) {
            if (!s.slot->ReplaceGrad(bit_, s.before, s.sum)) s.slot->AccumulateGrad(bit_, s.grad);
        } else if (is_wanted(s) || (!s.grad.is_null() && retain_grad_ && s.slot->node != nullptr)) {
            s.slot->SetGrad(bit_, s.grad);
        }
    }
    for (Slot* slot : given_) {
        if (!retain_grad_) slot->SetGrad(bit_, Array{});
    }
    for (Node* node : std::exchange(taken_, {})) {
        node->Leave();
        node->Unref();
    }
}

// Users of a function's outputs are newer than all of its nodes. So when the first of these is due,
// no further gradient will flow to any output.
bool BackwardRun::AddGivenGrads(Node* node) {
    Region* region = node->region;
    if (region == nullptr || region->outputs.size() < 2) return false;
    if (!complete_.insert(region).second) return false;
    bool added = false;
    for (Slot* slot : region->outputs) {
        if (slot == nullptr || !IsLive(slot)) continue;
        Array g = slot->GetGrad(bit_);
        if (g.is_null()) continue;
        const uint32_t state = StateOf(slot->node);
        if (!nodes_[state].GradOf(slot->index).is_null()) continue;
        nodes_[state].GradOf(slot->index) = std::move(g);
        Enqueue(state);
        slots_[StateOf(slot)].output = true;
        given_.push_back(slot);
        added = true;
    }
    return added;
}

// Claims the gradient functions of a node; if successful, the run has entered the node. If the
// graph is not kept, it stays inside until its end, so that nothing is lost if it fails.
bool BackwardRun::Take(uint32_t state) {
    Node* node = nodes_[state].node;
    if (!stays_) {  // reserves first, since it may fail
        if (taken_.empty()) taken_.reserve(16);
        taken_.push_back(nullptr);
    }
    if (node->Enter()) {
        if (stays_ && (node->mask.load() & bit_) != 0) return true;
        if (!stays_ && node->ClaimIds(bit_)) {
            taken_.back() = node;
            nodes_[state].taken = true;
            return true;
        }
        node->Leave();
    }
    if (!stays_) taken_.pop_back();
    CheckNotSpent(node->outputs());
    return false;
}

void BackwardRun::Process(uint32_t state) {
    Node* node = nodes_[state].node;
    nodes_[state].queued = false;
    // The complete gradients of the outputs. The states may move while the functions run.
    Array one = std::move(nodes_[state].grad);
    std::vector<Array> many;
    Array* gys = &one;
    if (node->n_outputs > 1) {
        many.push_back(std::move(one));
        for (uint32_t i = 1; i < node->n_outputs; ++i) {
            many.push_back(std::move(nodes_[state].GradOf(i)));
        }
        gys = many.data();
    }
    for (uint32_t i = 0; i < node->n_outputs; ++i) {
        Slot* slot = node->outputs() + i;
        if (!target_grads_.empty() && !gys[i].is_null()) [[unlikely]]
            AddTargetGrads(slot, gys[i]);
        if (!gys[i].is_null() && slot->hooked.load(std::memory_order_relaxed)) [[unlikely]]
            gys[i] = RunGradHooks(*slot, id_, std::move(gys[i]));
        if (!gys[i].is_null() && (retain_grad_ || HasState(slot) || (slot->required & bit_) != 0)) {
            SlotState& s = slots_[StateOf(slot)];
            s.grad = gys[i];
            s.hooked = true;
        }
    }
    if (nodes_[state].needed && Take(state)) {
        struct Visit {
            Node* node;
            ~Visit() {
                if (node != nullptr) node->Leave();
            }
        } visit{stays_ ? node : nullptr};
        if (observer_ != nullptr) Observe(node, {gys, node->n_outputs});
        GradContext context{*this, bit_, node, gys, has_targets_};
        for (GradFn* fn = node->fns; fn != nullptr; fn = fn->next) fn->run(fn, context);
    }
    Forget(state);
}

// The nodes of a region are consecutive, since nothing else was recorded meanwhile.
void BackwardRun::Observe(Node* node, std::span<Array> gys) {
    Region* region = node->region;
    if (region == observed_) return;
    EndObserved();
    if (region == nullptr || !(observer_->all() || region->observed)) return;
    std::vector<Array> grads;
    for (Slot* slot : region->outputs) {
        Array g;
        if (slot != nullptr && slot->node == node) {
            g = gys[slot->index];
        } else if (slot != nullptr && slot->node != nullptr && IsLive(slot)) {
            g = nodes_[StateOf(slot->node)].GradOf(slot->index);
        }
        grads.push_back(std::move(g));
    }
    region->Ref();
    observed_ = region;
    observer_->Begin(*region, grads);
}

void BackwardRun::EndObserved() {
    if (observed_ == nullptr) return;
    Region* region = std::exchange(observed_, nullptr);
    struct Release {
        Region* region;
        ~Release() { region->Unref(); }
    } release{region};
    observer_->End(*region);
}

Array BackwardRun::Fit(Node* node, int i, Array&& gx) {
    const Slot& slot = *node->edges()[i].slot;
    if (&gx.device() != slot.device) {
        throw GradientError{node->op->name,     ": the gradient of input ", i,
                            " is on ",          gx.device().name(),         ", the input on ",
                            slot.device->name()};
    }
    if (gx.shape() != slot.shape) {
        if (!IsBroadcastable(slot.shape, gx.shape())) {
            throw GradientError{node->op->name,
                                ": the gradient of input ",
                                i,
                                " has shape ",
                                gx.shape(),
                                ", the input ",
                                slot.shape};
        }
        gx = engine_ops::SumTo(gx, slot.shape);
    }
    if (gx.dtype() != slot.dtype) {
        // In chainer's functions a cast to integers has gradients, too.
        const bool strict = node->region == nullptr && IsDifferentiable(slot.dtype);
        if (strict && !IsDifferentiable(gx.dtype())) {
            throw GradientError{node->op->name,
                                ": the gradient of input ",
                                i,
                                " has dtype ",
                                gx.dtype(),
                                ", the input ",
                                slot.dtype};
        }
        gx = engine_ops::AsType(gx, slot.dtype);
    }
    return std::move(gx);
}

void BackwardRun::AddInputGrad(Node* node, int i, Array&& gx) {
    const Edge& e = node->edges()[i];
    if (gx.is_null() || e.slot == nullptr || (e.mask & bit_) == 0) return;
    const bool fits = gx.dtype() == e.slot->dtype && gx.shape() == e.slot->shape &&
                      &gx.device() == e.slot->device;
    if (!fits) gx = Fit(node, i, std::move(gx));
    if (observer_ != nullptr && observer_->all()) observer_->InputGrad(*node, i, gx);
    AddGrad(e.slot, std::move(gx));
}

Array BackwardRun::TakeTargetGrad(Slot* slot) {
    if (!HasState(slot)) return Array{};
    return slots_[StateOf(slot)].grad;
}

}  // namespace internal
}  // namespace chainerx
