#include "chainerx/autograd/graph_view.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_set>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/error.h"

namespace chainerx {

using internal::CurrentSlot;
using internal::Node;
using internal::NodeVisit;
using internal::Slot;

namespace {

std::vector<BackpropId> IdsOf(Context& context, uint64_t mask) {
    std::vector<BackpropId> ids;
    for (uint64_t left = mask & context.LiveIds(); left != 0; left &= left - 1) {
        ids.push_back(context.GetBackpropId(std::countr_zero(left)));
    }
    return ids;
}

uint64_t MaskOf(const char* op, const Array& x, const std::optional<BackpropId>& id) {
    if (!id) return 1;
    if (&id->context() != &x.context()) {
        throw ContextError{op, ": the backprop id and the array are of different contexts"};
    }
    id->CheckValid();
    return id->mask();
}

}  // namespace

GraphValue::GraphValue(Slot* slot, uint64_t mask) : slot_{slot}, mask_{mask} { slot->Ref(); }
GraphValue::~GraphValue() { slot_->Unref(); }
GraphValue& GraphValue::operator=(GraphValue o) noexcept {
    std::swap(slot_, o.slot_);
    std::swap(mask_, o.mask_);
    return *this;
}

const Shape& GraphValue::shape() const { return slot_->shape; }
Dtype GraphValue::dtype() const { return slot_->dtype; }
Device& GraphValue::device() const { return *slot_->device; }
int GraphValue::output_index() const { return static_cast<int>(slot_->index); }

std::vector<BackpropId> GraphValue::backprop_ids() const {
    slot_->DropExpired();
    return IdsOf(*slot_->context(), mask_ & slot_->live.load());
}

std::optional<GraphNode> GraphValue::creator() const {
    if (slot_->node == nullptr || slot_->cut) return std::nullopt;
    return GraphNode{slot_->node};
}

std::optional<Array> GraphValue::array() const {
    const std::lock_guard guard{slot_->lock};
    if (slot_->body == nullptr || !slot_->body->TryRef()) return std::nullopt;
    return Array{slot_->body};
}

GraphNode::GraphNode(Node* node) : node_{node} { node->Ref(); }
GraphNode::~GraphNode() { node_->Unref(); }
GraphNode& GraphNode::operator=(GraphNode o) noexcept {
    std::swap(node_, o.node_);
    return *this;
}

const OpInfo& GraphNode::op() const { return *node_->op; }
int64_t GraphNode::rank() const { return node_->rank; }
uint64_t GraphNode::sequence() const { return node_->sequence; }

std::vector<BackpropId> GraphNode::backprop_ids() const {
    return IdsOf(*node_->outputs()[0].context(), node_->mask.load());
}

std::vector<std::optional<GraphValue>> GraphNode::inputs() const {
    std::vector<std::optional<GraphValue>> values(node_->n_inputs);
    const GraphNode own{node_};  // owned by this call, since other threads may use ours
    const NodeVisit visit{node_};
    for (uint32_t i = 0; visit && i < node_->n_inputs; ++i) {
        const internal::Edge& e = node_->edges()[i];
        if (e.slot != nullptr) values[i].emplace(e.slot, e.mask);
    }
    return values;
}

std::vector<double> GraphNode::attributes() const {
    const GraphNode own{node_};
    const NodeVisit visit{node_};
    for (internal::GradFn* fn = visit ? node_->fns : nullptr; fn != nullptr; fn = fn->next) {
        if (fn->input != internal::Attributes::kInput) continue;
        const auto& a = static_cast<internal::GradFnOf<internal::Attributes>*>(fn)->f;
        return {a.values, a.values + a.count};
    }
    return {};
}

std::vector<GraphValue> GraphNode::outputs() const {
    std::vector<GraphValue> values;
    for (uint32_t i = 0; i < node_->n_outputs; ++i) {
        values.emplace_back(node_->outputs() + i, ~uint64_t{0});
    }
    return values;
}

void GraphNode::Unchain() const { node_->Unchain(); }

std::optional<GraphValue> GetGraphValue(const Array& x) {
    Slot* slot = CurrentSlot(x);
    if (slot == nullptr || slot->live == 0) return std::nullopt;
    return GraphValue{slot, ~uint64_t{0}};
}

bool IsChained(const Array& x, const std::optional<BackpropId>& id) {
    const uint64_t mask = MaskOf("is_chained", x, id);
    const Slot* slot = CurrentSlot(x);
    return slot != nullptr && slot->node != nullptr && !slot->cut &&
           (slot->node->mask & slot->live & mask) != 0;
}

void Unchain(const Array& x) {
    Slot* slot = CurrentSlot(x);
    if (slot == nullptr || slot->node == nullptr) return;
    slot->cut = true;
    Node* node = slot->node;
    for (uint32_t i = 0; i < node->n_outputs; ++i) {
        Slot* output = node->outputs() + i;
        if (!output->cut && output->live != 0) return;
    }
    node->Unchain();
}

std::string DumpGraph(const Array& x, const std::optional<BackpropId>& id) {
    const uint64_t mask = MaskOf("dump_graph", x, id);
    const auto describe = [](const GraphValue& v) { return StrCat(v.dtype(), v.shape()); };
    Slot* slot = CurrentSlot(x);
    if (slot == nullptr || (slot->live & mask) == 0) return "in no graph\n";
    const GraphValue start{slot, mask};

    std::vector<GraphNode> found;
    std::unordered_set<const void*> seen;
    const auto visit = [&](const GraphValue& v) {
        const std::optional<GraphNode> node = v.creator();
        if (node && seen.insert(node->id()).second) found.push_back(*node);
    };
    visit(start);
    for (size_t i = 0; i < found.size(); ++i) {  // `found` grows during the loop
        const GraphNode node = found[i];
        for (const std::optional<GraphValue>& v : node.inputs()) {
            if (v && v->IsRecorded(mask)) visit(*v);
        }
    }
    std::sort(found.begin(), found.end(),
              [](const GraphNode& a, const GraphNode& b) { return a.sequence() > b.sequence(); });
    std::string out = StrCat("array ", describe(start), "\n");
    for (const GraphNode& node : found) {
        out += StrCat("#", node.sequence(), " ", node.name(), ", rank ", node.rank(), ", of");
        for (const std::optional<GraphValue>& v : node.inputs()) {
            if (!v || !v->IsRecorded(mask)) {
                out += " -";
            } else if (const std::optional<GraphNode> creator = v->creator()) {
                out += StrCat(" #", creator->sequence());
            } else {
                out += StrCat(" leaf ", describe(*v));
            }
        }
        out += "\n";
    }
    return out;
}

}  // namespace chainerx
