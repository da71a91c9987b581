// The data structures of the graph: slots, edges, nodes, gradient functions.
//
//   body --owns--> slot --is part of--> node --owns--> edges --own--> slots of its inputs
//
// A node owns its input edges, never its outputs; a gradient function owns data, never a graph.
// Gradients lie in the slot, but belong to its body: they go with it, and a slot without a body
// takes none. Where a gradient would keep that very body, it is another body at the same place. So
// there are no reference cycles that stay.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/pool.h"

namespace chainerx {

class GradContext;

namespace internal {

struct Node;
struct Region;
class BackwardRun;

// Held for a few instructions.
class SpinLock {
 public:
    void lock() {
        for (int n = 0; flag_.test_and_set(std::memory_order_acquire); ++n) {
            if (n > 100) std::this_thread::yield();  // whoever has it does not run
        }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

 private:
    std::atomic_flag flag_{};
};

// Which backward run uses an object, and under which index. A second run that meets the object at
// the same time keeps its own map.
struct RunClaim {
    std::atomic<BackwardRun*> run{nullptr};
    uint32_t index{0};
};

struct GradEntry {
    uint64_t id;  // one bit
    Array grad;
};

struct HookEntry;  // hooks.cc

// What few slots have.
struct SlotMore {
    std::vector<GradEntry> grads;                   // beside the usual, only one
    std::vector<std::shared_ptr<HookEntry>> hooks;  // in the order of their registration
};

// The place of an array in the graphs: an output of a node, or a leaf that stands alone.
struct CX_API Slot {
    Node* node{nullptr};            // the creator, whose part this is; null for a leaf
    std::atomic<uint32_t> refs{1};  // of a leaf; an output is kept by its node
    uint32_t index{0};              // which output
    Dtype dtype;
    std::atomic<bool> cut{false};     // unchained: backward ends here
    std::atomic<bool> hooked{false};  // there are, or were, hooks
    Device* device;
    std::atomic<uint64_t> live;         // ids in whose graphs the array is
    std::atomic<uint64_t> required{0};  // ids for which require_grad() was called
    std::atomic<uint32_t> generation;   // of the context, when `live` was last known to be valid
    SpinLock lock;                      // guards body, saved, grads and hooks
    ArrayBody* body;                    // not owned; null after its last handle went
    // Not owned: after that, what gradient functions have saved of it. See DetachSlot().
    std::atomic<ArrayBody*> saved{nullptr};
    GradEntry grad{};  // the usual, only one
    std::unique_ptr<SlotMore> more;
    RunClaim claim;
    // Objects of a layer above, not owned, which clear these when they go: the variable that is at
    // this place, and the layer's view of the place itself.
    void* variable{nullptr};
    void* view{nullptr};
    Shape shape;

    Slot(ArrayBody& body, uint64_t live)
        : dtype{body.dtype},
          device{body.device},
          live{live},
          generation{body.device->context()->generation()},
          body{&body},
          shape{body.shape} {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {
        if (saved.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
            LeaveSaved();
    }

    Context* context() const { return device->context(); }
    inline void Ref();
    inline void Unref();

    // The gradient of one id; null if unset.
    Array GetGrad(uint64_t id);
    void SetGrad(uint64_t id, Array grad);  // null clears; nothing happens after the body has gone
    // What a gradient (null if unset) becomes when another one is added.
    static Array SumOfGrads(const Array& current, const Array& grad);
    // Adds; runs in several threads lose nothing.
    void AccumulateGrad(uint64_t id, const Array& grad);
    // Swaps the gradient and `new_grad` if the gradient is still `expected` (null if unset).
    bool ReplaceGrad(uint64_t id, const Array& expected, Array& new_grad);
    // Made if there is none. The lock must be held.
    SlotMore& More() {
        if (more == nullptr) more = std::make_unique<SlotMore>();
        return *more;
    }
    // Its place, made if there is none. The lock must be held.
    Array& GradOf(uint64_t id);
    // For a gradient that leads to this slot by way of gradients, another array at its place.
    Array OutOfRing(Array g);

    // ChainerxError if the array was in the graph of an id that has been released.
    void CheckNotExpired(const char* op) {
        if (generation.load(std::memory_order_relaxed) != context()->generation()) [[unlikely]] {
            CheckNotExpiredSlow(op);
        }
    }
    CX_API CX_COLD void CheckNotExpiredSlow(const char* op);
    // Forgets expired ids, so that new ones can take their bits.
    void DropExpired();

 private:
    void DestroyLeaf();
    CX_API CX_COLD void LeaveSaved();
};

struct Edge {
    Slot* slot{nullptr};  // owned; null if the input is in no graph that is recorded
    uint64_t mask{0};  // ids for which the edge was recorded; later changes of the slot don't count
};

// A gradient function: a header, followed by a lambda with what it saved.
struct GradFn {
    GradFn* next;
    void (*run)(GradFn* self, GradContext& context);
    void (*destroy)(GradFn* self);
    uint32_t pool_size;  // 0 if it lies in the arena of its node
    int32_t input;       // -1 if it computes the gradients of several; see also Attributes
};

// One operation. Followed in the same allocation by edges, output slots, and the arena.
//
// Edges and gradient functions are read between Enter() and Leave(). They go when no id is left in
// `mask` and nobody is inside, so that a run in another thread, or one that a gradient function
// starts, never sees them go.
struct CX_API Node {
    static constexpr uint32_t kArenaSize = 160;
    static constexpr uint32_t kUnchained = uint32_t{1} << 31;

    std::atomic<uint32_t> refs;
    std::atomic<uint32_t> inside{0};  // how many have entered; kUnchained forever after
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint64_t sequence;               // greater than that of every node it depends on
    int64_t rank;                    // length of the longest path to a leaf
    const OpInfo* op;                // a constant
    std::atomic<uint64_t> mask;      // ids whose backward has not run yet
    std::atomic<uint64_t> spent{0};  // those whose backward has
    GradFn* fns{nullptr};
    Node* next_doomed{nullptr};
    Region* region{nullptr};  // owned (Region::UnrefNode); null outside of functions
    RunClaim claim;
    bool foreign_below{false};  // this node, its region or one below keeps a foreign object
    uint32_t arena_used{0};
    uint32_t alloc_size;

    Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
    Slot* outputs() { return reinterpret_cast<Slot*>(edges() + n_inputs); }
    char* arena() { return reinterpret_cast<char*>(outputs() + n_outputs); }

    // Edges and slots are constructed by the caller.
    static Node* Make(const OpInfo* op, size_t n_inputs, size_t n_outputs);

    void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
    void Unref() {
        if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) Doom();
    }

    template <typename Fn>
    void AddGradFn(int input, void (*run)(GradFn*, GradContext&), Fn&& fn);

    // For holders of a reference of their own, which no other thread uses. False if there is
    // nothing left inside.
    CX_API bool Enter();
    CX_API void Leave();

    // From inside: takes ids off the mask, marks them as spent, and returns whether they were on
    // it. Of several runs on one id, only one gets it. When no id is left and nobody is inside,
    // what was saved goes, and the edges with it: a run leaves at its end, or gives the ids back if
    // it fails.
    CX_API bool TakeIds(uint64_t ids);
    CX_API void GiveBackIds(uint64_t ids);
    bool IsSpent(uint64_t ids) const { return (spent.load(std::memory_order_relaxed) & ids) != 0; }
    // Takes ids off the mask without a run.
    void ReleaseIds(uint64_t ids);
    // Cuts the node from its inputs.
    void Unchain() { ReleaseIds(~uint64_t{0}); }

 private:
    // Nobody else can come here while the caller's is the only reference. Then counting needs no
    // locked instructions.
    bool IsSole() const { return refs.load(std::memory_order_acquire) == 1; }
    void UnchainIfIdle();
    // Destruction is iterative: a chain of any length needs no stack.
    CX_API void Doom();
    void Destroy();
    void DestroyFns();
    void DropEdges();
};

inline void Slot::Ref() {
    if (node != nullptr) {
        node->Ref();
    } else {
        refs.fetch_add(1, std::memory_order_relaxed);
    }
}

inline void Slot::Unref() {
    if (node != nullptr) {
        node->Unref();
    } else if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        DestroyLeaf();
    }
}

inline Node* Node::Make(const OpInfo* op, size_t n_inputs, size_t n_outputs) {
    const size_t size =
        sizeof(Node) + sizeof(Edge) * n_inputs + sizeof(Slot) * n_outputs + kArenaSize;
    Node* node = new (PoolAlloc(size)) Node;
    node->refs.store(1, std::memory_order_relaxed);  // nobody else knows it yet
    node->n_inputs = static_cast<uint32_t>(n_inputs);
    node->n_outputs = static_cast<uint32_t>(n_outputs);
    node->op = op;
    node->alloc_size = static_cast<uint32_t>(size);
    CX_TRACK_BORN(kNode);
    return node;
}

template <typename F>
struct GradFnOf : GradFn {
    F f;
};

// The attributes of an operation lie among the gradient functions of its node, and go with them.
struct Attributes {
    static constexpr size_t kMax = 4;
    static constexpr int32_t kInput = -2;  // in the place of an input
    uint32_t count;
    double values[kMax];
};

template <typename F>
void Node::AddGradFn(int input, void (*run)(GradFn*, GradContext&), F&& f) {
    using Fn = GradFnOf<std::decay_t<F>>;
    static_assert(alignof(Fn) <= 16);
    constexpr uint32_t size = (sizeof(Fn) + 15) / 16 * 16;
    const bool fits = arena_used + size <= kArenaSize;
    void* p = fits ? arena() + arena_used : PoolAllocOutside(size);  // rarely: not inline
    if (fits) arena_used += size;
    auto* fn = new (p) Fn{{fns, run,
                           [](GradFn* self) {
                               const uint32_t pool_size = self->pool_size;
                               static_cast<Fn*>(self)->~Fn();
                               if (pool_size != 0) PoolFreeOutside(self, pool_size);
                           },
                           fits ? 0 : size, input},
                          std::forward<F>(f)};
    fns = fn;
}

// Inside a node; false if there is nothing in it any more.
class NodeVisit {
 public:
    explicit NodeVisit(Node* node) : node_{node->Enter() ? node : nullptr} {}
    ~NodeVisit() {
        if (node_ != nullptr) node_->Leave();
    }
    NodeVisit(const NodeVisit&) = delete;
    NodeVisit& operator=(const NodeVisit&) = delete;
    explicit operator bool() const { return node_ != nullptr; }

 private:
    Node* node_;
};

// The data of `body` again, as an array of its own.
Array AliasOf(ArrayBody& body);
// The body becomes that of its slot if it shares the slot with one that has gone.
CX_API void TakePlace(ArrayBody& body);
// The data at a place whose array has gone, as far as a gradient function has saved it, as a new
// array outside of all graphs. Null if none has.
CX_API Array SavedData(Slot& slot);
// Makes the leaf slot of a body that has none.
CX_API Slot* MakeLeafSlot(ArrayBody& body);

}  // namespace internal
}  // namespace chainerx
