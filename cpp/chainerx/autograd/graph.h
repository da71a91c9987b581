// The data structures of the graph: slots, edges, nodes, gradient functions.
//
//   body --owns--> slot --is part of--> node --owns--> edges --own--> slots of its inputs
//
// A node owns its input edges, never its outputs; a gradient function owns data, never a graph.
// Gradients are stored in the slot, but belong to its body: they are freed with it, and a slot
// without a body accepts none. If a gradient would keep that very body alive, another body with the
// same data replaces it. So no reference cycle remains.
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

// A lock that is held for a few instructions.
class SpinLock {
 public:
    void lock() {
        for (int n = 0; flag_.test_and_set(std::memory_order_acquire); ++n) {
            if (n > 100) std::this_thread::yield();  // the owner is not running
        }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

 private:
    std::atomic_flag flag_{};
};

// The backward run that uses an object, and its index there. A second run that uses the object at
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

// Rarely used state of a slot, allocated on demand.
struct SlotExtra {
    std::vector<GradEntry> grads;                   // other than the slot's own entry
    std::vector<std::shared_ptr<HookEntry>> hooks;  // in the order of their registration
};

// The node of an array in the graphs: an output of an operation, or a leaf.
struct CX_API Slot {
    Node* node{nullptr};            // the creator, which contains this slot; null for a leaf
    std::atomic<uint32_t> refs{1};  // of a leaf; an output lives as long as its node
    uint32_t index{0};              // among the outputs
    Dtype dtype;
    std::atomic<bool> cut{false};     // unchained: backward ends here
    std::atomic<bool> hooked{false};  // there are, or were, hooks
    Device* device;
    std::atomic<uint64_t> live;         // ids of the graphs that contain the array
    std::atomic<uint64_t> required{0};  // ids for which require_grad() was called
    std::atomic<uint32_t> generation;   // of the context, when `live` was last known to be valid
    SpinLock lock;                      // guards body, saved, grads and hooks
    ArrayBody* body;                    // not owned; null after its last handle went
    // Not owned: after the last handle went, the body that gradient functions have saved. See
    // DetachSlot().
    std::atomic<ArrayBody*> saved{nullptr};
    GradEntry grad{};  // the first entry; usually the only one
    std::unique_ptr<SlotExtra> extra;
    RunClaim claim;
    // Objects of a layer above, not owned, which clear these on destruction: the variable of this
    // slot, and the layer's view of the slot itself.
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

    // Returns the gradient of one id; null if unset.
    Array GetGrad(uint64_t id);
    void SetGrad(uint64_t id, Array grad);  // null clears; has no effect after the body has gone
    Array FindGrad(uint64_t id);            // the same, unobserved (core/capture_observer.h)
    // Takes the gradient away if nobody else has its array or its memory; else returns null.
    Array TakeOwnGrad(uint64_t id);
    // Returns the sum of a gradient (null if unset) and another one.
    static Array SumOfGrads(const Array& current, const Array& grad);
    // Adds to the gradient; concurrent runs lose nothing.
    void AccumulateGrad(uint64_t id, const Array& grad);
    // Swaps the gradient and `new_grad` if the gradient is still `expected` (null if unset).
    bool ReplaceGrad(uint64_t id, const Array& expected, Array& new_grad);
    // Returns the rare state; creates it if needed. The lock must be held.
    SlotExtra& Extra() {
        if (extra == nullptr) extra = std::make_unique<SlotExtra>();
        return *extra;
    }
    // Returns the entry of one id; creates it if needed. The lock must be held.
    Array& GradOf(uint64_t id);
    // Breaks reference cycles: if a gradient leads to this slot by way of gradients, returns
    // another array with its data and slot.
    Array BreakCycle(Array g);

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

// A gradient function: a header, followed by a lambda with its saved arrays.
struct GradFn {
    GradFn* next;
    void (*run)(GradFn* self, GradContext& context);
    void (*destroy)(GradFn* self);
    uint32_t pool_size;  // 0 if it is in the arena of its node
    int32_t input;       // -1 if it computes several gradients; see also Attributes
};

// One operation. In the same allocation it is followed by edges, output slots, and the arena.
//
// Edges and gradient functions may be read between Enter() and Leave(). They are freed when no id
// is left in `mask` and nobody is inside, so that a run in another thread, or one that a gradient
// function starts, never sees them vanish.
struct CX_API Node {
    static constexpr uint32_t kArenaSize = 160;
    static constexpr uint32_t kUnchained = uint32_t{1} << 31;

    std::atomic<uint32_t> refs;
    std::atomic<uint32_t> inside{0};  // number of users inside; kUnchained for ever afterwards
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint64_t sequence;                 // greater than that of every node it depends on
    int64_t rank;                      // length of the longest path to a leaf
    const OpInfo* op;                  // a constant
    std::atomic<uint64_t> mask;        // ids whose backward has not run yet
    std::atomic<uint64_t> claimed{0};  // ids whose backward has run
    GradFn* fns{nullptr};
    Node* next_to_destroy{nullptr};
    Region* region{nullptr};  // owned (Region::UnrefNode); null outside of functions
    RunClaim claim;
    bool foreign_below{false};  // this node, its region or one below keeps a foreign object
    uint32_t arena_used{0};
    uint32_t alloc_size;

    Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
    Slot* outputs() { return reinterpret_cast<Slot*>(edges() + n_inputs); }
    char* arena() { return reinterpret_cast<char*>(outputs() + n_outputs); }

    // The caller constructs edges and slots.
    static Node* Make(const OpInfo* op, size_t n_inputs, size_t n_outputs);

    void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
    void Unref() {
        if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) DestroyLater();
    }

    template <typename Fn>
    void AddGradFn(int input, void (*run)(GradFn*, GradContext&), Fn&& fn);

    // The caller must own a reference that no other thread uses. Returns false if the node is
    // empty.
    CX_API bool Enter();
    CX_API void Leave();

    // From inside: claims ids by removing them from the mask and marking them as claimed; returns
    // whether they were in it. Among several runs on one id only one gets it. When no id is left
    // and nobody is inside, saved arrays and edges are freed: a run leaves at its end, or gives the
    // ids back if it fails.
    CX_API bool ClaimIds(uint64_t ids);
    CX_API void GiveBackIds(uint64_t ids);
    bool IsClaimed(uint64_t ids) const {
        return (claimed.load(std::memory_order_relaxed) & ids) != 0;
    }
    // Removes ids from the mask without a run.
    void ReleaseIds(uint64_t ids);
    // Cuts the node from its inputs.
    void Unchain() { ReleaseIds(~uint64_t{0}); }

 private:
    // If the caller owns the only reference, nobody else can come here, and counting needs no
    // locked instructions.
    bool IsSole() const { return refs.load(std::memory_order_acquire) == 1; }
    void UnchainIfIdle();
    // Destroys the node later: destruction is iterative, so that long chains need no stack.
    CX_API void DestroyLater();
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
    node->refs.store(1, std::memory_order_relaxed);  // nobody else knows the node yet
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

// The attributes of an operation are stored among the gradient functions of its node, and freed
// with them.
struct Attributes {
    static constexpr size_t kMax = 4;
    static constexpr int32_t kInput = -2;  // instead of the index of an input
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

// Enters a node; false if it is empty.
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

// Returns a new array over the data of `body`.
Array AliasOf(ArrayBody& body);
// Makes the body that of its slot, if it shares the slot with a body that has gone.
CX_API void TakePlace(ArrayBody& body);
// Returns the data of a slot whose array has gone, if a gradient function has saved it, as a new
// array outside of all graphs; else null.
CX_API Array SavedData(Slot& slot);
// Makes the leaf slot of a body that has none.
CX_API Slot* MakeLeafSlot(ArrayBody& body);

}  // namespace internal
}  // namespace chainerx
