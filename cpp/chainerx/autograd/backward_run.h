// One run of backpropagation: the state that lives from its start to its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/autograd/record.h"
#include "chainerx/core/thread_state.h"

namespace chainerx::internal {

struct Region;
class RunObserver;

// While derivatives are computed, graphs of released ids are dropped instead of being an error.
class DifferentiatingScope {
 public:
    DifferentiatingScope() { ++t_state.differentiating; }
    ~DifferentiatingScope() { --t_state.differentiating; }
    DifferentiatingScope(const DifferentiatingScope&) = delete;
    DifferentiatingScope& operator=(const DifferentiatingScope&) = delete;
};

class CX_API BackwardRun {
 public:
    BackwardRun(const BackpropId& id, bool double_backprop, std::optional<double> loss_scale);
    ~BackwardRun();
    BackwardRun(const BackwardRun&) = delete;
    BackwardRun& operator=(const BackwardRun&) = delete;

    // Restricts gradients to this array (may be called several times).
    void AddTarget(Slot* slot);
    // Sets where gradients start; a null `grad` means ones. It replaces the array's own gradient,
    // unless `own` is false.
    void AddOutput(const Array& output, Array grad, bool own = true);
    // Adds a gradient that a target has from elsewhere, once one from the outputs arrives there.
    void AddTargetGrad(Slot* slot, Array grad);
    void set_retain_grad(bool retain) { retain_grad_ = retain; }
    // Keeps the graph for another run.
    void set_keep_graph(bool keep) { stays_ = double_backprop_ || keep; }
    // Sets the graphs in which gradients are not recorded, instead of the run's own and all newer
    // ones.
    void set_not_recorded(uint64_t ids) { not_recorded_ = ids; }
    // At a function with several outputs, includes gradients that users have set on outputs that no
    // gradient reaches; they are used up unless gradients are retained.
    void set_use_given_grads(bool use) { use_given_grads_ = use; }

    // Runs the gradient functions. If `store`, adds the results to the arrays that require them.
    void Run(bool store);

    // Returns the input gradients that one node's functions compute from those of its outputs, null
    // where there is none. The node stays unchanged.
    static std::vector<Array> RunNode(Node* node, const BackpropId& id, std::vector<Array> gys);

    // Returns the gradient of a target, null if nothing reached it.
    Array TakeTargetGrad(Slot* slot);

    void AddInputGrad(Node* node, int i, Array&& gx);
    // Returns whether the slot is a target, or one can be reached from it.
    bool IsOnTheWay(Slot* slot);

 private:
    static constexpr uint32_t kNoNode = ~uint32_t{0};

    // A node that waits for its gradients. Once it has run, its state is reused: a long chain needs
    // few.
    struct NodeState {
        Node* node;                           // null: free
        Array grad;                           // of the first output
        std::unique_ptr<Array[]> more_grads;  // of the others
        uint32_t next_free;                   // next in the free list
        bool queued;
        bool needed;
        bool taken;  // `taken_` owns the reference to the node

        Array& GradOf(uint32_t output) { return output == 0 ? grad : more_grads[output - 1]; }
    };
    // A slot that ends a path, or whose gradient is requested.
    struct SlotState {
        Slot* slot;
        Array grad;
        Array before;  // the stored gradient, and its new value
        Array sum;
        bool target;
        bool output;
        bool hooked;  // its hooks have been called
    };

    uint32_t StateOf(Node* node);
    uint32_t StateOf(Slot* slot);
    bool HasState(Slot* slot);
    void AddGrad(Slot* slot, Array&& g);
    void Accumulate(Array& sum, Array&& g);
    void AddTo(Array& sum, const Array& g);
    void Enqueue(uint32_t state);
    void FindNeeded();
    void Process(uint32_t state);
    bool Take(uint32_t state);
    void CheckNotSpent(Slot* slot) const;
    void Forget(uint32_t state);
    bool AddGivenGrads(Node* node);
    CX_COLD void AddTargetGrads(Slot* slot, Array& grad);
    Array Fit(Node* node, int i, Array&& gx);
    bool IsLive(Slot* slot) const;
    void Observe(Node* node, std::span<Array> gys);
    void EndObserved();

    uint32_t IndexOf(auto* object, bool* is_new, size_t next);
    CX_COLD uint32_t ContendedIndexOf(const void* object, bool* is_new, uint32_t next);

    BackpropId id_;
    uint64_t bit_;
    bool double_backprop_;
    bool stays_;  // whether the graph is kept
    std::optional<uint64_t> not_recorded_;
    bool retain_grad_{false};
    bool use_given_grads_{false};
    RunObserver* observer_{nullptr};
    Region* observed_{nullptr};  // owned; between Begin and End of the observer
    std::optional<double> loss_scale_;
    bool has_targets_{false};
    std::vector<NodeState> nodes_;
    std::vector<SlotState> slots_;
    uint32_t free_node_{kNoNode};                          // the first of a list
    std::vector<std::pair<uint64_t, uint32_t>> queue_;     // heap of (sequence, state)
    std::unordered_map<const void*, uint32_t> contended_;  // objects that another run has claimed
    std::unordered_set<const Region*> complete_;           // those whose given gradients were added
    std::vector<Node*> taken_;                             // released when the run has succeeded
    std::vector<Slot*> given_;  // outputs whose given gradients were used
    // gradients that targets have from elsewhere
    std::vector<std::pair<Slot*, Array>> target_grads_;
};

}  // namespace chainerx::internal
