#include "chainerx/autograd/graph.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_set>

#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/pool.h"
#include "chainerx/core/thread_state.h"

namespace chainerx::internal {

namespace {

// Distinct slots in the order in which they were found.
class FoundSlots {
 public:
    void Add(const Array& x) {
        Slot* slot = x.is_null() ? nullptr : x.body()->slot;
        if (slot != nullptr && IsNew(slot)) slots_.push_back(slot);
    }
    size_t size() const { return slots_.size(); }
    Slot* operator[](size_t i) const { return slots_[i]; }

 private:
    static constexpr size_t kMaxLinear = 8;  // up to this many are compared one by one

    bool IsNew(Slot* slot) {
        if (slots_.size() < kMaxLinear) {
            return std::find(slots_.begin(), slots_.end(), slot) == slots_.end();
        }
        if (known_.empty()) known_.insert(slots_.begin(), slots_.end());
        return known_.insert(slot).second;
    }

    std::vector<Slot*> slots_;
    std::unordered_set<Slot*> known_;  // the same slots; empty while they are few
};

// Returns whether a single handle is the only owner of a leaf.
bool IsHeldOnce(Slot* slot) {
    const std::lock_guard guard{slot->lock};
    return slot->node == nullptr && slot->refs.load() == 1 && slot->body != nullptr &&
           slot->body->IsSole();
}

// Gradients that the outermost DropGrad() of this thread still has to free.
constinit thread_local std::vector<Array>* t_grads_to_destroy = nullptr;

// Frees a gradient, which may have a gradient, and so on: iteratively, as nodes are destroyed.
void DropGrad(Array g) {
    if (g.body()->slot == nullptr) return;
    if (t_grads_to_destroy != nullptr) {
        try {
            t_grads_to_destroy->push_back(std::move(g));
        } catch (const std::bad_alloc&) {
            // Without memory it is freed now, a few frames deeper.
        }
        return;
    }
    std::vector<Array> to_destroy;
    t_grads_to_destroy = &to_destroy;
    g = Array{};
    while (!to_destroy.empty()) {
        const Array next = std::move(to_destroy.back());
        to_destroy.pop_back();
    }
    t_grads_to_destroy = nullptr;
}

}  // namespace

void Slot::DestroyLeaf() {
    this->~Slot();
    PoolFree(this, sizeof(Slot));
}

Array Slot::GetGrad(uint64_t id) {
    Array found = FindGrad(id);
    if (CaptureObserver* capture = CurrentCapture()) [[unlikely]]
        capture->ReadGrad(*this, id, found);
    return found;
}

Array Slot::FindGrad(uint64_t id) {
    const std::lock_guard guard{lock};
    if (!grad.grad.is_null() && grad.id == id) return grad.grad;
    if (extra != nullptr) {
        for (const GradEntry& e : extra->grads) {
            if (e.id == id) return e.grad;
        }
    }
    return Array{};
}

Array Slot::TakeOwnGrad(uint64_t id) {
    const std::lock_guard guard{lock};
    if (grad.grad.is_null() || grad.id != id) return Array{};
    const ArrayBody& g = *grad.grad.body();
    const bool is_alone =
        g.counts.load(std::memory_order_acquire) == ArrayBody::kStrong + ArrayBody::kMemory &&
        g.slot == nullptr && g.buffer->IsExclusive();
    return is_alone ? std::exchange(grad.grad, Array{}) : Array{};
}

Array& Slot::GradOf(uint64_t id) {
    if (!grad.grad.is_null() && grad.id == id) return grad.grad;
    if (extra != nullptr) {
        for (GradEntry& e : extra->grads) {
            if (e.id == id) return e.grad;
        }
    }
    if (grad.grad.is_null()) {
        grad.id = id;
        return grad.grad;
    }
    return Extra().grads.emplace_back(GradEntry{id, Array{}}).grad;
}

Array Slot::BreakCycle(Array g) {
    if (g.is_null() || g.body()->slot == nullptr) return g;
    // The caller's handle is the only owner, so no gradient leads here.
    if (g.body()->slot != this && IsHeldOnce(this)) return g;
    FoundSlots found;  // slots that the gradient keeps, as far as needed
    found.Add(g);
    for (size_t i = 0; i < found.size(); ++i) {
        Slot* slot = found[i];
        if (slot == this) {
            Array other = Detached(g);
            g.body()->slot->Ref();
            other.body()->slot = g.body()->slot;
            return other;
        }
        const std::lock_guard guard{slot->lock};
        found.Add(slot->grad.grad);
        if (slot->extra == nullptr) continue;
        for (const GradEntry& e : slot->extra->grads) found.Add(e.grad);
    }
    return g;
}

void Slot::SetGrad(uint64_t id, Array new_grad) {
    // The old gradient is freed after the lock is released: its destruction may take other locks.
    if (CaptureObserver* capture = CurrentCapture()) [[unlikely]]
        capture->WroteGrad(*this, id, new_grad.is_null());
    Array old = BreakCycle(std::move(new_grad));
    const std::lock_guard guard{lock};
    if (body != nullptr) std::swap(GradOf(id), old);
}

bool Slot::ReplaceGrad(uint64_t id, const Array& expected, Array& new_grad) {
    new_grad = BreakCycle(std::move(new_grad));
    const std::lock_guard guard{lock};
    if (body == nullptr) return true;
    Array& place = GradOf(id);
    if (place.body() != expected.body()) return false;
    std::swap(place, new_grad);
    return true;
}

Array Slot::SumOfGrads(const Array& current, const Array& g) {
    // Never adds in place: users may see the current gradient, and may write to it. So a sum gets
    // its own memory for each element.
    if (!current.is_null()) return engine_ops::Add(current, g);
    return g.body()->read_only ? engine_ops::Copy(g) : g;
}

void Slot::AccumulateGrad(uint64_t id, const Array& g) {
    while (true) {
        const Array current = GetGrad(id);
        Array sum = SumOfGrads(current, g);
        if (ReplaceGrad(id, current, sum)) return;
    }
}

void Slot::CheckNotExpiredSlow(const char* op) {
    device->CheckAlive(op);
    const uint32_t now = context()->generation();
    if (context()->ExpiredIds(live, generation) != 0) {
        // Arrays that were recorded in an inner graph, too, occur again in backward of an outer
        // one.
        if (t_state.differentiating != 0) {
            DropExpired();
            return;
        }
        throw ChainerxError{op,
                            ": the array is in the graph of an expired backprop id; "
                            "as_grad_stopped() gives its values without the graph"};
    }
    generation = now;
}

void Slot::DropExpired() {
    const uint32_t now = context()->generation();
    const uint64_t expired = context()->ExpiredIds(live | required, generation);
    live &= ~expired;
    required &= ~expired;
    // Otherwise the creator would revive under the next id that gets the same bit.
    if (node != nullptr && expired != 0) node->ReleaseIds(expired);
    for (uint64_t left = expired; left != 0; left &= left - 1) SetGrad(left & -left, Array{});
    generation = now;
}

Array AliasOf(ArrayBody& body) {
    body.buffer->Ref();
    Array a = MakeArray(body.shape, body.strides, body.dtype, *body.device, body.buffer, body.data);
    a.body()->read_only = body.read_only;
    return a;
}

void TakePlace(ArrayBody& body) {
    const std::lock_guard guard{body.slot->lock};
    if (body.slot->body == nullptr) body.slot->body = &body;
}

Slot* MakeLeafSlot(ArrayBody& body) {
    body.slot = new (PoolAlloc(sizeof(Slot))) Slot{body, 0};
    return body.slot;
}

namespace {

// Guards a slot and a saved body that refer to each other, if either may be destroyed: nodes that
// save a body without keeping its slot allow that. Also held where the body is looked at.
ForkMutex g_loose_mutex;

}  // namespace

void ForgetSaved(ArrayBody& body) {
    if (body.loosely_saved.load(std::memory_order_relaxed)) {
        const std::lock_guard loose{g_loose_mutex};
        // Not under the lock of the slot, which may be destroyed once it has no saved body.
        if (body.slot != nullptr) body.slot->saved.store(nullptr, std::memory_order_release);
        return;
    }
    const std::lock_guard guard{body.slot->lock};
    body.slot->saved.store(nullptr, std::memory_order_relaxed);
}

void Slot::LeaveSaved() {
    const std::lock_guard loose{g_loose_mutex};
    if (ArrayBody* s = saved.load(std::memory_order_relaxed)) s->slot = nullptr;
}

Array SavedData(Slot& slot) {
    const std::lock_guard loose{g_loose_mutex};
    const std::lock_guard guard{slot.lock};
    ArrayBody* s = slot.saved.load(std::memory_order_relaxed);
    return s != nullptr ? AliasOf(*s) : Array{};
}

void DetachSlot(ArrayBody& body) {
    Slot* slot = std::exchange(body.slot, nullptr);
    GradEntry grad{};
    std::vector<GradEntry> more;
    {
        const std::lock_guard guard{slot->lock};
        if (slot->body == &body || slot->body == nullptr) {
            slot->body = nullptr;
            if (body.IsSaved() && slot->saved.load(std::memory_order_relaxed) == nullptr) {
                slot->saved.store(&body, std::memory_order_relaxed);
                body.slot = slot;
            }
            // Nobody can read the gradients any more, and they may hold the graph that holds this
            // slot.
            std::swap(grad, slot->grad);
            if (slot->extra != nullptr) more.swap(slot->extra->grads);
        }
    }
    body.UnrefMemory();  // first, since the slot must exist if that was the last reference
    slot->Unref();
    if (!grad.grad.is_null()) DropGrad(std::move(grad.grad));
    for (GradEntry& e : more) {
        if (!e.grad.is_null()) DropGrad(std::move(e.grad));
    }
}

void Node::DestroyFns() {
    while (GradFn* fn = fns) {
        fns = fn->next;
        fn->destroy(fn);
    }
}

void Node::DropEdges() {
    for (uint32_t i = 0; i < n_inputs; ++i) {
        if (Slot* slot = std::exchange(edges()[i].slot, nullptr)) slot->Unref();
    }
}

bool Node::Enter() {
    if (IsSole()) {
        const uint32_t n = inside.load(std::memory_order_relaxed);
        if ((n & kUnchained) != 0) return false;
        inside.store(n + 1, std::memory_order_relaxed);
        return true;
    }
    if ((inside.fetch_add(1) & kUnchained) == 0) return true;
    inside.fetch_sub(1);
    return false;
}

void Node::Leave() {
    uint32_t left;
    if (IsSole()) {
        left = inside.load(std::memory_order_relaxed) - 1;
        inside.store(left, std::memory_order_relaxed);
    } else {
        left = inside.fetch_sub(1) - 1;
    }
    if (left == 0 && mask.load() == 0) UnchainIfIdle();
}

bool Node::ClaimIds(uint64_t ids) {
    if (IsSole()) {
        const uint64_t old = mask.load(std::memory_order_relaxed);
        if ((old & ids) == 0) return false;
        mask.store(old & ~ids, std::memory_order_relaxed);
        claimed.store(claimed.load(std::memory_order_relaxed) | ids, std::memory_order_relaxed);
        return true;
    }
    // Sets it first, so that whoever finds the mask empty finds this set.
    if ((claimed.fetch_or(ids) & ids) != 0) return false;
    if ((mask.fetch_and(~ids) & ids) != 0) return true;
    claimed.fetch_and(~ids);
    return false;
}

void Node::GiveBackIds(uint64_t ids) {
    // Unless somebody has released them meanwhile.
    if ((claimed.fetch_and(~ids) & ids) != 0) mask.fetch_or(ids);
}

void Node::ReleaseIds(uint64_t ids) {
    // Callers may share their reference with other threads, as an array does.
    Ref();
    claimed.fetch_and(~ids);
    mask.fetch_and(~ids);
    if (mask.load() == 0) UnchainIfIdle();
    Unref();
}

void Node::UnchainIfIdle() {
    if (IsSole()) {
        if (inside.load(std::memory_order_relaxed) != 0) return;
        inside.store(kUnchained, std::memory_order_relaxed);
    } else {
        uint32_t none = 0;
        if (!inside.compare_exchange_strong(none, kUnchained)) return;
    }
    DestroyFns();
    DropEdges();
    if (region != nullptr) region->DropInputs();
}

void Node::DestroyLater() {
    // Immediately, since user code that runs before its turn comes finds outputs there.
    if (region != nullptr) region->ForgetOutputs(this);
    next_to_destroy = static_cast<Node*>(t_state.nodes_to_destroy);
    t_state.nodes_to_destroy = this;
    if (t_state.destroying) return;
    t_state.destroying = true;
    while (auto* node = static_cast<Node*>(t_state.nodes_to_destroy)) {
        t_state.nodes_to_destroy = node->next_to_destroy;
        node->Destroy();
    }
    t_state.destroying = false;
}

void Node::Destroy() {
    CX_TRACK_DEAD(kNode);
    if ((inside.load(std::memory_order_relaxed) & kUnchained) == 0) {
        DestroyFns();
        DropEdges();
    }
    if (region != nullptr) region->UnrefNode();
    for (uint32_t i = 0; i < n_outputs; ++i) outputs()[i].~Slot();
    const uint32_t size = alloc_size;
    this->~Node();
    PoolFree(this, size);
}

}  // namespace chainerx::internal
