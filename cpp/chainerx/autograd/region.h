// A function as its user sees it: one or several nodes that were recorded while it ran, its inputs
// and its outputs. A layer above makes regions; the engine only keeps the books.
//
//   node --owns--> region --owns--> slots of the inputs; the outputs are known, not owned
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/thread_state.h"

namespace chainerx::internal {

// Few slots, most of the time.
class SlotList {
 public:
    SlotList() = default;
    SlotList(const SlotList&) = delete;
    SlotList& operator=(const SlotList&) = delete;
    void push_back(Slot* slot) {
        if (size_ == capacity_) Grow();
        begin()[size_++] = slot;
    }
    void clear() { size_ = 0; }
    uint32_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Slot** begin() { return more_ != nullptr ? more_.get() : few_; }
    Slot** end() { return begin() + size_; }
    Slot*& operator[](uint32_t i) { return begin()[i]; }

 private:
    void Grow() {
        auto more = std::make_unique<Slot*[]>(capacity_ * 4);
        std::copy(begin(), end(), more.get());
        more_ = std::move(more);
        capacity_ *= 4;
    }

    uint32_t size_{0};
    uint32_t capacity_{3};
    Slot* few_[3];
    std::unique_ptr<Slot*[]> more_;
};

// Two counts, as in ArrayBody: `nodes`, the nodes of the region, and `refs`, which also counts
// views of it. When the last node goes, the region lets go of its payload; so the payload may keep
// the region, and there is no cycle.
struct CX_API Region {
    std::atomic<uint32_t> nodes{0};
    std::atomic<uint32_t> refs{1};
    int64_t rank{0};       // length of the longest path to a leaf, counted in functions
    bool foreign{false};   // the payload may be part of reference cycles of the layer above
    bool observed{false};  // an observer of runs is told of this one, even if not of all
    bool late{false};      // became foreign when nodes above it had been recorded
    bool stale{false};     // its function was applied again and forgot what this was
    uint8_t kind{0};       // for the layer above
    // The layer above: what the function is (borrowed), what it keeps (released with the last
    // node), and its view of the region, not owned.
    void* type{nullptr};
    void* payload{nullptr};
    void (*release)(Region& region) noexcept {nullptr};
    void* view{nullptr};
    // Its views of the inputs, if they are to stay the same ones: released with the inputs.
    void* input_views{nullptr};
    void (*release_views)(void* views) noexcept {nullptr};
    SlotList inputs;   // owned; empty after DropInputs()
    SlotList outputs;  // null after the array and all that was computed from it has gone

    void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
    void Unref() {
        if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
    }
    void RefNode() {
        nodes.fetch_add(1, std::memory_order_relaxed);
        Ref();
    }
    void UnrefNode() {
        if (nodes.fetch_sub(1, std::memory_order_acq_rel) == 1) DropPayload();
        Unref();
    }

    // Adds a reference to the slot; null for an input that chainerx can't hold.
    void AddInput(Slot* slot);
    void AddOutput(Slot* slot) { outputs.push_back(slot); }
    void DropInputs();
    void ForgetOutputs(const Node* node);
    void DropPayload() {
        if (release != nullptr) release(*this);
    }

    void* operator new(size_t size) { return PoolAlloc(size); }
    void operator delete(void* p, size_t size) { PoolFree(p, size); }

 private:
    ~Region() = default;
    void Destroy();
};

// Makes `outputs`, which are in no graph, outputs of the region without gradients.
CX_API void AddOpaqueNode(const OpInfo& op, Region* region, std::span<const Array> outputs);
// The region of a node; one of its own if it was recorded in none.
CX_API Region* RegionOf(Node* node);

// Nodes recorded during its life belong to the region (null: to none).
class RegionScope {
 public:
    explicit RegionScope(Region* region) : saved_{t_state.region} { t_state.region = region; }
    ~RegionScope() { t_state.region = saved_; }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;

 private:
    Region* saved_;
};

// The number of functions on the longest path from `slot` to a leaf.
CX_API int64_t VisibleRank(const Slot* slot);

// Sees the regions that a backward run goes through; for hooks and debugging.
class CX_API RunObserver {
 public:
    // `all`: every region and every gradient, not only regions that are `observed`.
    explicit RunObserver(bool all) : all_{all} {}
    // Thread-local; null where nobody looks. Runs take it when they start.
    static RunObserver* current();
    static void set_current(RunObserver* observer);

    virtual ~RunObserver() = default;
    // `output_grads` has one entry per output, null where no gradient came.
    virtual void Begin(Region& region, std::span<const Array> output_grads) = 0;
    virtual void InputGrad(Node& node, int input, const Array& grad) = 0;
    virtual void End(Region& region) = 0;

    bool all() const { return all_; }

 private:
    bool all_;
};

}  // namespace chainerx::internal
