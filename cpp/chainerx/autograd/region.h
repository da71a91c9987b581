// A composite function as its user sees it: the nodes that were recorded while it ran, its inputs
// and its outputs. A layer above makes regions; the engine only keeps track of them.
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

// A list that is mostly short.
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
    Slot** begin() { return heap_ != nullptr ? heap_.get() : inline_; }
    Slot** end() { return begin() + size_; }
    Slot*& operator[](uint32_t i) { return begin()[i]; }

 private:
    void Grow() {
        auto more = std::make_unique<Slot*[]>(capacity_ * 4);
        std::copy(begin(), end(), more.get());
        heap_ = std::move(more);
        capacity_ *= 4;
    }

    uint32_t size_{0};
    uint32_t capacity_{3};
    Slot* inline_[3];
    std::unique_ptr<Slot*[]> heap_;
};

// Has two counts, as ArrayBody: `nodes`, the nodes of the region, and `refs`, which also counts
// views of it. When the last node goes, the region releases its payload; so the payload may own the
// region without a cycle.
struct CX_API Region {
    std::atomic<uint32_t> nodes{0};
    std::atomic<uint32_t> refs{1};
    int64_t rank{0};       // length of the longest path to a leaf, counted in functions
    bool foreign{false};   // the payload may be part of reference cycles of the layer above
    bool observed{false};  // observers of runs see this one, even if not all
    bool late{false};      // became foreign after nodes above it had been recorded
    bool stale{false};     // its function was applied again and forgot this call
    uint8_t kind{0};       // for the layer above
    // For the layer above: the type of the function (borrowed), its payload (released with the last
    // node), and its view of the region, not owned.
    void* type{nullptr};
    void* payload{nullptr};
    void (*release)(Region& region) noexcept {nullptr};
    void* view{nullptr};
    // The layer's views of the inputs, if their identity must be kept: released with the inputs.
    void* input_views{nullptr};
    void (*release_views)(void* views) noexcept {nullptr};
    SlotList inputs;   // owned; empty after DropInputs()
    SlotList outputs;  // null after the array and all arrays computed from it have gone

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
// Returns the region of a node; makes one if it was recorded in none.
CX_API Region* RegionOf(Node* node);

// Assigns nodes recorded during its life to the region (null: to none).
class RegionScope {
 public:
    explicit RegionScope(Region* region) : saved_{t_state.region} { t_state.region = region; }
    ~RegionScope() { t_state.region = saved_; }
    RegionScope(const RegionScope&) = delete;
    RegionScope& operator=(const RegionScope&) = delete;

 private:
    Region* saved_;
};

// Returns the number of functions on the longest path from `slot` to a leaf.
CX_API int64_t VisibleRank(const Slot* slot);

// Observes the regions of a backward run; for hooks and debugging.
class CX_API RunObserver {
 public:
    // `all`: observes every region and every gradient, not only `observed` regions.
    explicit RunObserver(bool all) : all_{all} {}
    // Thread-local; null without an observer. Runs read it when they start.
    static RunObserver* current();
    static void set_current(RunObserver* observer);

    virtual ~RunObserver() = default;
    // `output_grads` has one entry per output, null where no gradient arrived.
    virtual void Begin(Region& region, std::span<const Array> output_grads) = 0;
    virtual void InputGrad(Node& node, int input, const Array& grad) = 0;
    virtual void End(Region& region) = 0;

    bool all() const { return all_; }

 private:
    bool all_;
};

}  // namespace chainerx::internal
