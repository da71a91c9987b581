#include "chainerx/autograd/region.h"

#include <utility>

namespace chainerx::internal {

void Region::AddInput(Slot* slot) {
    if (slot != nullptr) slot->Ref();
    inputs.push_back(slot);
}

void Region::DropInputs() {
    const uint32_t n = inputs.size();
    inputs.clear();  // first, since destructors below may look at us
    for (uint32_t i = 0; i < n; ++i) {
        if (Slot* slot = inputs.begin()[i]) slot->Unref();
    }
    if (void* views = std::exchange(input_views, nullptr)) release_views(views);
}

void Region::ForgetOutputs(const Node* node) {
    for (Slot*& slot : outputs) {
        if (slot != nullptr && slot->node == node) slot = nullptr;
    }
}

void Region::Destroy() {
    DropInputs();
    DropPayload();  // for a region that never had a node
    delete this;
}

int64_t VisibleRank(const Slot* slot) {
    const Node* node = slot->node;
    if (node == nullptr || slot->cut.load(std::memory_order_relaxed)) return 0;
    return node->region != nullptr ? node->region->rank + 1 : node->rank;
}

void AddOpaqueNode(const OpInfo& op, Region* region, std::span<const Array> outputs) {
    Node* node = Node::Make(&op, 0, outputs.size());
    uint64_t sequence = t_state.node_sequence;
    node->rank = 0;
    node->foreign_below = region->foreign;
    for (const Slot* slot : region->inputs) {
        if (slot == nullptr || slot->node == nullptr) continue;
        sequence = std::max(sequence, slot->node->sequence);
        node->rank = std::max(node->rank, slot->node->rank);
        node->foreign_below |= slot->node->foreign_below;
    }
    node->sequence = t_state.node_sequence = sequence + 1;
    ++node->rank;
    node->region = region;
    region->RefNode();
    for (size_t i = 0; i < outputs.size(); ++i) {
        ArrayBody& body = *outputs[i].body();
        Slot* slot = new (node->outputs() + i) Slot{body, 0};
        slot->node = node;
        slot->index = static_cast<uint32_t>(i);
        body.slot = slot;
        if (i != 0) node->Ref();
    }
}

Region* RegionOf(Node* node) {
    if (node->region != nullptr) return node->region;
    auto* region = new Region;
    region->rank = node->rank - 1;
    for (uint32_t i = 0; i < node->n_inputs; ++i) {
        if (Slot* slot = node->edges()[i].slot) region->AddInput(slot);
    }
    for (uint32_t i = 0; i < node->n_outputs; ++i) region->AddOutput(node->outputs() + i);
    region->RefNode();
    region->Unref();
    node->region = region;
    return region;
}

namespace {
constinit thread_local RunObserver* t_observer = nullptr;
}

RunObserver* RunObserver::current() { return t_observer; }
void RunObserver::set_current(RunObserver* observer) { t_observer = observer; }

}  // namespace chainerx::internal
