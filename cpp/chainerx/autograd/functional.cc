#include "chainerx/autograd/functional.h"

#include <optional>
#include <span>
#include <unordered_map>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/backward_run.h"
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/graph_view.h"
#include "chainerx/autograd/hooks.h"
#include "chainerx/autograd/record_observer.h"
#include "chainerx/autograd/region.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"

namespace chainerx {

using internal::BackwardRun;
using internal::Edge;
using internal::Node;
using internal::Slot;

namespace internal {

// One operation of a function, with the arrays of its call.
struct TapeEntry {
    TapeEntry(Node* node, std::span<const ConstArrayRef> xs, std::span<const Array> ys)
        : node{node}, inputs(xs.begin(), xs.end()), outputs(ys.begin(), ys.end()) {
        for (const Array& x : inputs) versions.push_back(x.buffer()->version());
        for (const Array& y : outputs) versions.push_back(y.buffer()->version());
        node->Ref();
    }
    TapeEntry(TapeEntry&& e) noexcept
        : node{std::exchange(e.node, nullptr)},
          inputs{std::move(e.inputs)},
          outputs{std::move(e.outputs)},
          versions{std::move(e.versions)} {}
    TapeEntry& operator=(TapeEntry&&) = delete;
    ~TapeEntry() {
        if (node != nullptr) node->Unref();
    }

    // Returns whether none of the arrays has been written in place since.
    bool IsUnchanged() const {
        auto version = versions.begin();
        for (const Array& x : inputs) {
            if (x.buffer()->version() != *version++) return false;
        }
        for (const Array& y : outputs) {
            if (y.buffer()->version() != *version++) return false;
        }
        return true;
    }

    Node* node;  // owned
    std::vector<Array> inputs;
    std::vector<Array> outputs;
    std::vector<uint32_t> versions;
};

namespace {

// Records the operations of one id on a tape.
class Tape : public RecordObserver {
 public:
    Tape(uint64_t id, std::vector<TapeEntry>& entries) : id_{id}, entries_{entries} {}
    void Called(std::span<const ConstArrayRef>) override {}
    void Recorded(Node* node, std::span<const ConstArrayRef> inputs,
                  std::span<const Array> outputs) override {
        if ((node->mask.load(std::memory_order_relaxed) & id_) == 0) return;
        entries_.emplace_back(node, inputs, outputs);
    }

 private:
    uint64_t id_;
    std::vector<TapeEntry>& entries_;
};

// Returns the same array in its graphs, and in that of `id`.
Array LeafOf(const Array& x, const BackpropId& id) {
    const Array leaf = x.AsGradStopped(std::vector<BackpropId>{});
    if (IsDifferentiable(x.dtype())) leaf.RequireGrad(id);
    return leaf;
}

bool IsIn(const Array& x, const BackpropId& id) {
    const Slot* slot = x.body()->slot;
    return slot != nullptr && (slot->live.load(std::memory_order_relaxed) & id.mask()) != 0;
}

Context& ContextOf(const std::vector<Array>& arrays) {
    return arrays.empty() ? GetDefaultContext() : arrays[0].context();
}

Array ZerosLike(const Array& x) { return engine_ops::Full(x.shape(), 0, x.dtype(), x.device()); }

void CheckFits(const char* op, const char* name, size_t i, const Array& t, const char* whose,
               const Array& x) {
    if (t.shape() != x.shape()) {
        throw GradientError{op,   ": ",  name, "[", i,    "] has shape ", t.shape(),
                            ", ", whose, "[",  i,   "] ", x.shape()};
    }
    if (t.dtype() != x.dtype()) {
        throw GradientError{op,   ": ",  name, "[", i,    "] has dtype ", t.dtype(),
                            ", ", whose, "[",  i,   "] ", x.dtype()};
    }
    if (&t.device() != &x.device()) {
        throw GradientError{op,   ": ",  name, "[", i,    "] is on ", t.device().name(),
                            ", ", whose, "[",  i,   "] ", "on ",      x.device().name()};
    }
}

void CheckCount(const char* op, const char* name, size_t n, const char* whose, size_t expected) {
    if (n != expected) {
        throw GradientError{op,   ": ", n, " ", name, ", expected ", expected, ", one for each of ",
                            whose};
    }
}

}  // namespace

// The record of one call.
struct FunctionGraph {
    FunctionGraph(const char* name, const ArrayFunction& f, const std::vector<Array>& primals,
                  bool taped)
        : scope{name, ContextOf(primals)}, id{scope.backprop_id()} {
        for (const Array& x : primals) leaves.push_back(LeafOf(x, id));
        {
            const BackpropModeScope recorded{id.context(), id.mask(), true};
            const HookGraphScope hooks{&id};
            std::optional<Tape> tape;
            if (taped) tape.emplace(id.mask(), entries);
            results = f(leaves);
        }
        own = internal::IdsOfMask(id.context(), ~id.context().OuterIds(id.ordinal()));
        for (const Array& y : results) outputs.push_back(IsIn(y, id) ? y.AsGradStopped({id}) : y);
    }

    BackpropScope scope;
    BackpropId id;
    // The graphs in which derivatives are not recorded: this one, and those that the function has
    // made, which may outlive it. Newer graphs may belong to a caller who differentiates the
    // derivative.
    std::vector<BackpropId> own;
    std::vector<Array> leaves;
    std::vector<Array> results;  // in the graph
    std::vector<Array> outputs;  // detached from the graph
    std::vector<TapeEntry> entries;
};

std::vector<Array> BackwardRun::RunNode(Node* node, const BackpropId& id, std::vector<Array> gys) {
    // Collects the results of gradient functions, cast and summed to fit the inputs.
    class Collector : public RunObserver {
     public:
        explicit Collector(size_t n) : RunObserver{true}, grads(n), before_{current()} {
            set_current(this);
        }
        ~Collector() override { Stop(); }
        void Stop() { set_current(before_); }
        void Begin(Region&, std::span<const Array>) override {}
        void InputGrad(Node&, int input, const Array& grad) override {
            Array& sum = grads[input];
            sum = sum.is_null() ? grad : engine_ops::Add(sum, grad);
        }
        void End(Region&) override {}

        std::vector<Array> grads;

     private:
        RunObserver* before_;
    } collector{node->n_inputs};
    BackwardRun run{id, true, std::nullopt};
    collector.Stop();         // the run has it; runs inside it must not see it
    run.has_targets_ = true;  // an empty set of targets: gradients end here
    const RegionScope no_region{nullptr};
    const NodeVisit visit{node};
    if (!visit) return std::move(collector.grads);
    GradContext context{run, run.bit_, node, gys.data(), false};
    for (GradFn* fn = node->fns; fn != nullptr; fn = fn->next) fn->run(fn, context);
    return std::move(collector.grads);
}

namespace {

// Pushes tangents forward from operation to operation.
class Push {
 public:
    explicit Push(const FunctionGraph& graph)
        : id_{graph.id},
          context_{id_.context()},
          not_recorded_{context_, MaskOfLive(graph.own), false},
          transposed_{"transposed", context_} {}

    void Set(const Array& x, Array t) { tangents_[x.body()->slot] = std::move(t); }

    // Returns null if the tangent is zero.
    Array Get(const Array& x) const { return IsIn(x, id_) ? Get(x.body()->slot) : Array{}; }

    void Pass(const TapeEntry& e) {
        const NodeVisit visit{e.node};
        if (!visit) return;  // unchained
        std::vector<Array> ts;
        bool any = false;
        for (uint32_t i = 0; i < e.node->n_inputs; ++i) {
            const Edge& edge = e.node->edges()[i];
            const bool inside = edge.slot != nullptr && (edge.mask & id_.mask()) != 0;
            ts.push_back(inside ? Get(edge.slot) : Array{});
            any |= !ts.back().is_null();
        }
        if (!any) return;
        std::vector<Array> tys =
            UsesRow(e) ? std::vector{Forward(e, ts)} : TransposeBackward(e.node, ts);
        for (uint32_t k = 0; k < e.node->n_outputs; ++k) {
            if (!tys[k].is_null()) tangents_[e.node->outputs() + k] = std::move(tys[k]);
        }
    }

 private:
    Array Get(const Slot* slot) const {
        if (slot->cut.load(std::memory_order_relaxed)) return Array{};
        const auto it = tangents_.find(slot);
        return it == tangents_.end() ? Array{} : it->second;
    }

    // A forward derivative reuses the gradient expressions; for complex numbers these are not
    // sufficient.
    bool UsesRow(const TapeEntry& e) const {
        const OpInfo& op = *e.node->op;
        if (op.forward == nullptr || e.node->n_outputs != 1 || !e.IsUnchanged()) return false;
        if (op.forward_inputs != 0 && op.forward_inputs != static_cast<int>(e.node->n_inputs)) {
            return false;
        }
        if (IsComplex(e.outputs[0].dtype())) return false;
        for (const Array& x : e.inputs) {
            if (IsComplex(x.dtype())) return false;
        }
        return true;
    }

    Array Forward(const TapeEntry& e, const std::vector<Array>& ts) const {
        const Array& y = e.outputs[0];
        const std::vector<double> attributes = GraphNode{e.node}.attributes();
        Array t = e.node->op->forward({e.inputs, y, ts, attributes});
        return t.is_null() || t.dtype() == y.dtype() ? t : engine_ops::AsType(t, y.dtype());
    }

    // Backward is linear in the gradients of the outputs. So, wherever these are taken, the
    // gradient of its results, weighted by the tangents, is the tangent of the outputs.
    std::vector<Array> TransposeBackward(Node* node, const std::vector<Array>& ts) const {
        const BackpropId& id = transposed_.backprop_id();
        std::vector<Array> gys(node->n_outputs);
        std::vector<Array> gxs;
        {
            const BackpropModeScope recorded{context_, id.mask(), true};
            for (uint32_t k = 0; k < node->n_outputs; ++k) {
                const Slot& y = node->outputs()[k];
                if (!IsDifferentiable(y.dtype)) continue;
                gys[k] = engine_ops::Full(y.shape, 0, y.dtype, *y.device);
                gys[k].RequireGrad(id);
            }
            gxs = BackwardRun::RunNode(node, id_, gys);
        }
        std::vector<ConstArrayRef> outputs;
        std::vector<std::optional<Array>> weights;
        for (size_t i = 0; i < gxs.size(); ++i) {
            if (gxs[i].is_null() || ts[i].is_null()) continue;
            outputs.emplace_back(gxs[i]);
            weights.emplace_back(ts[i]);
        }
        std::vector<ConstArrayRef> inputs;
        for (const Array& gy : gys) {
            if (!gy.is_null()) inputs.emplace_back(gy);
        }
        const auto found =
            Grad(outputs, inputs, id, DoubleBackpropOption::kDisable, false, false, weights);
        std::vector<Array> tys(node->n_outputs);
        auto next = found.begin();
        for (uint32_t k = 0; k < node->n_outputs; ++k) {
            if (gys[k].is_null()) continue;
            if (next->has_value()) tys[k] = **next;
            ++next;
        }
        return tys;
    }

    BackpropId id_;
    Context& context_;
    BackpropModeScope not_recorded_;  // not in the function's own graph
    DifferentiatingScope differentiating_;
    BackpropScope transposed_;
    std::unordered_map<const Slot*, Array> tangents_;
};

}  // namespace
}  // namespace internal

using internal::CheckCount;
using internal::CheckFits;
using internal::FunctionGraph;
using internal::IsIn;
using internal::ZerosLike;

Pullback::Pullback(const ArrayFunction& f, const std::vector<Array>& primals)
    : graph_{std::make_unique<FunctionGraph>("vjp", f, primals, false)} {}
Pullback::Pullback(Pullback&&) noexcept = default;
Pullback& Pullback::operator=(Pullback&&) noexcept = default;
Pullback::~Pullback() = default;

const std::vector<Array>& Pullback::outputs() const { return graph_->outputs; }

std::vector<Array> Pullback::operator()(const std::vector<Array>& cotangents) const {
    const auto& [scope, id, own, leaves, results, outputs, entries] = *graph_;
    CheckCount("vjp", "cotangents", cotangents.size(), "the outputs", results.size());
    id.context().CheckBackpropAllowed(id);
    BackwardRun run{id, false, std::nullopt};
    run.set_keep_graph(true);
    run.set_not_recorded(internal::MaskOfLive(own));
    bool any = false;
    for (const Array& x : leaves) {
        if (!IsIn(x, id)) continue;
        run.AddTarget(x.body()->slot);
        any = true;
    }
    for (size_t i = 0; i < results.size(); ++i) {
        if (cotangents[i].is_null()) continue;
        CheckFits("vjp", "cotangents", i, cotangents[i], "outputs", results[i]);
        run.AddOutput(results[i], cotangents[i], false);
    }
    if (any) run.Run(false);
    std::vector<Array> grads;
    for (const Array& x : leaves) {
        Array g = IsIn(x, id) ? run.TakeTargetGrad(x.body()->slot) : Array{};
        grads.push_back(g.is_null() ? ZerosLike(x) : std::move(g));
    }
    return grads;
}

Pushforward::Pushforward(const ArrayFunction& f, const std::vector<Array>& primals)
    : graph_{std::make_unique<FunctionGraph>("jvp", f, primals, true)} {}
Pushforward::Pushforward(Pushforward&&) noexcept = default;
Pushforward& Pushforward::operator=(Pushforward&&) noexcept = default;
Pushforward::~Pushforward() = default;

const std::vector<Array>& Pushforward::outputs() const { return graph_->outputs; }

std::vector<Array> Pushforward::operator()(const std::vector<Array>& tangents) const {
    const auto& [scope, id, own, leaves, results, outputs, entries] = *graph_;
    CheckCount("jvp", "tangents", tangents.size(), "the primals", leaves.size());
    internal::Push push{*graph_};
    for (size_t i = 0; i < leaves.size(); ++i) {
        if (tangents[i].is_null()) continue;
        CheckFits("jvp", "tangents", i, tangents[i], "primals", leaves[i]);
        if (IsIn(leaves[i], id)) push.Set(leaves[i], tangents[i]);
    }
    constexpr size_t kEntriesPerCheck = 64;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (i % kEntriesPerCheck == kEntriesPerCheck - 1) internal::CheckInterrupt();
        push.Pass(entries[i]);
    }
    std::vector<Array> result;
    for (const Array& y : results) {
        Array t = push.Get(y);
        result.push_back(t.is_null() ? ZerosLike(y) : std::move(t));
    }
    return result;
}

std::pair<std::vector<Array>, std::vector<Array>> Jvp(const ArrayFunction& f,
                                                      const std::vector<Array>& primals,
                                                      const std::vector<Array>& tangents) {
    const Pushforward push{f, primals};
    std::vector<Array> changes = push(tangents);
    return {push.outputs(), std::move(changes)};
}

}  // namespace chainerx
