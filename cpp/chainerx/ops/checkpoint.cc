#include "chainerx/ops/checkpoint.h"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>

#include "chainerx/autograd/backward_run.h"
#include "chainerx/autograd/hooks.h"
#include "chainerx/autograd/record_observer.h"
#include "chainerx/autograd/region.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/ops/random/random_generator.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::BackwardRun;
using internal::Node;
using internal::Slot;

constexpr OpInfo kCheckpoint{"checkpoint"};

// Collects the arrays in graphs that a function uses, except those that it makes itself.
class UsedArrays : public internal::RecordObserver {
 public:
    explicit UsedArrays(uint64_t ids) : ids_{ids} {}
    void Called(std::span<const ConstArrayRef> inputs) override {
        for (const ConstArrayRef& x : inputs) {
            Slot* slot = x.get().body()->slot;
            if (slot == nullptr || !known_.insert(slot).second) continue;
            slot->DropExpired();
            if ((slot->live.load(std::memory_order_relaxed) & ids_) != 0) arrays.push_back(x.get());
        }
    }
    void Recorded(Node* node, std::span<const ConstArrayRef>, std::span<const Array>) override {
        for (uint32_t i = 0; i < node->n_outputs; ++i) known_.insert(node->outputs() + i);
        node->Ref();
        own_.emplace_back(node);
    }

    std::vector<Array> arrays;

 private:
    struct Release {
        void operator()(Node* node) const { node->Unref(); }
    };

    uint64_t ids_;
    // Compares addresses, so nodes are kept alive: a freed address could be reused.
    std::unordered_set<const Slot*> known_;
    std::vector<std::unique_ptr<Node, Release>> own_;
};

// Makes the used arrays part of the checkpoint's own graph, too, as they are inputs of the
// function.
class InGraph {
 public:
    InGraph(Slot* slot, const BackpropId& id) : slot_{slot}, id_{id.mask()} {
        slot_->Ref();
        slot_->DropExpired();
        slot_->live |= id_;
    }
    InGraph(InGraph&& o) noexcept : slot_{std::exchange(o.slot_, nullptr)}, id_{o.id_} {}
    InGraph& operator=(InGraph&&) = delete;
    ~InGraph() {
        if (slot_ == nullptr) return;
        slot_->live &= ~id_;
        slot_->Unref();
    }

 private:
    Slot* slot_;
    uint64_t id_;
};

// The gradient function of a checkpoint.
struct Recompute {
    ArrayFunction f;
    random::Draws draws;
    std::vector<BackpropId> ids;  // that were recorded
    std::vector<Saved> inputs;
    std::vector<Saved> used;
    std::vector<Slot*> used_slots;  // of the edges, which keep the slots alive
    std::vector<std::pair<Shape, Dtype>> results;

    void operator()(GradContext& context) const {
        std::vector<Array> xs;
        for (const Saved& x : inputs) xs.push_back(x());
        for (const Saved& x : used) x();  // throws if it has been written in place
        Context& cx = xs.empty() ? *used_slots[0]->context() : xs[0].context();
        const BackpropScope scope{"checkpoint", cx};
        const BackpropId& id = scope.backprop_id();
        std::vector<Array> leaves;
        for (const Array& x : xs) {
            leaves.push_back(x.AsGradStopped(std::vector<BackpropId>{}));
            if (IsDifferentiable(x.dtype())) leaves.back().RequireGrad(id);
        }
        std::vector<InGraph> in_graph;
        for (Slot* slot : used_slots) in_graph.emplace_back(slot, id);
        const std::vector<Array> ys = Call(id, leaves);

        BackwardRun run{id, false, std::nullopt};
        const int n = static_cast<int>(inputs.size());
        const auto slot_of = [&](int i) {
            return i < n ? leaves[i].body()->slot : used_slots[i - n];
        };
        bool any = false;
        for (int i = 0; i < context.input_count(); ++i) {
            if (!context.IsInputGradRequired(i)) continue;
            run.AddTarget(slot_of(i));
            any = true;
        }
        if (!any) return;
        for (size_t i = 0; i < ys.size(); ++i) {
            const int k = static_cast<int>(i);
            if (context.HasOutputGrad(k)) run.AddOutput(ys[i], context.output_grad(k), false);
        }
        run.Run(false);
        for (int i = 0; i < context.input_count(); ++i) {
            if (!context.IsInputGradRequired(i)) continue;
            if (Array g = run.TakeTargetGrad(slot_of(i)); !g.is_null()) {
                context.SetInputGrad(i, std::move(g));
            }
        }
    }

 private:
    std::vector<Array> Call(const BackpropId& id, const std::vector<Array>& leaves) const {
        const BackpropModeScope recorded{id.context(), id.mask(), true};
        const internal::HookGraphScope hooks{&id};
        const random::DrawScope random{draws};
        UsedArrays now{internal::MaskOfLive(ids) | id.mask()};
        std::vector<Array> ys = f(leaves);
        for (const Array& x : now.arrays) {
            Slot* slot = x.body()->slot;
            const bool is_input = std::ranges::any_of(
                leaves, [&](const Array& leaf) { return leaf.body()->slot == slot; });
            if (!is_input && std::ranges::find(used_slots, slot) == used_slots.end()) {
                ThrowOther("uses an array, of shape ", x.shape(), " and dtype ", x.dtype(),
                           ", that it did not use before");
            }
        }
        if (ys.size() != results.size()) {
            ThrowOther("gives ", ys.size(), " results, expected ", results.size(), " as before");
        }
        for (size_t i = 0; i < ys.size(); ++i) {
            const auto& [shape, dtype] = results[i];
            if (ys[i].shape() == shape && ys[i].dtype() == dtype) continue;
            ThrowOther("gives result ", i, " of shape ", ys[i].shape(), " and dtype ",
                       ys[i].dtype(), ", expected ", shape, " and ", dtype, " as before");
        }
        return ys;
    }

    template <typename... What>
    [[noreturn]] CX_COLD static void ThrowOther(const What&... what) {
        throw GradientError{"checkpoint: when called again for backward, the function ", what...};
    }
};

}  // namespace

std::vector<Array> Checkpoint(const ArrayFunction& f, const std::vector<Array>& inputs) {
    Context& context = inputs.empty() ? GetDefaultContext() : inputs[0].context();
    const std::vector<BackpropId> ids =
        internal::IdsOfMask(context, internal::RecordMask(&context));
    if (ids.empty()) return f(inputs);
    random::Draws draws;
    std::vector<Array> used;
    std::vector<Array> ys;
    {
        std::vector<Array> stopped;
        for (const Array& x : inputs) stopped.push_back(x.AsGradStopped());
        UsedArrays tap{internal::MaskOfLive(ids)};
        random::DrawScope random;
        const internal::HookGraphScope no_hooks{nullptr};
        for (const Array& y : f(stopped)) ys.push_back(y.AsGradStopped());
        used = std::move(tap.arrays);
        draws = std::move(random.draws());
    }
    std::vector<ConstArrayRef> all(inputs.begin(), inputs.end());
    all.insert(all.end(), used.begin(), used.end());
    if (ys.empty()) return ys;
    if (Record rec{kCheckpoint, all, ys}) {
        Recompute recompute{f, std::move(draws), ids, {}, {}, {}, {}};
        for (const Array& x : inputs) recompute.inputs.push_back(rec.Save(x));
        for (const Array& x : used) {
            recompute.used.push_back(rec.Save(x));
            recompute.used_slots.push_back(x.body()->slot);
        }
        for (const Array& y : ys) recompute.results.emplace_back(y.shape(), y.dtype());
        rec.GradAll(std::move(recompute));
    }
    return ys;
}

bool internal::IsCheckpoint(const Node& node) { return node.op == &kCheckpoint; }

const ArrayFunction* internal::CheckpointFunctionOf(const Node& node) {
    const auto* only = static_cast<const GradFnOf<Recompute>*>(node.fns);
    return only != nullptr ? &only->f.f : nullptr;
}

}  // namespace chainerx
