#include "chainerx/python/engine/traverse.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace chainerx::python::engine {

using internal::ArrayBody;
using internal::Node;
using internal::Region;
using internal::Slot;

namespace {

// Young collections are frequent, and a variable at the end of a long chain is always young.
constexpr int kMaxYoung = 500;
bool g_full_collection = true;

// Goes through nodes from newest to oldest and counts the references that it finds. A node is older
// than all that refer to it, so when its turn comes its count is complete; if that is all there
// are, then nobody from outside can reach it.
class Walk {
 public:
    Walk(visitproc visit, void* arg) : visit_{visit}, arg_{arg} {}

    void Found(const Slot* slot) {
        Node* node = slot != nullptr ? slot->node : nullptr;
        if (node == nullptr || !node->foreign_below) return;
        if (found_[node]++ != 0) return;
        queue_.emplace_back(node->sequence, node);
        std::push_heap(queue_.begin(), queue_.end());
    }

    int Run() {
        // What is not reported is kept: the next full collection sees it.
        for (int left = g_full_collection ? -1 : kMaxYoung; !queue_.empty() && left != 0; --left) {
            std::pop_heap(queue_.begin(), queue_.end());
            Node* node = queue_.back().second;
            queue_.pop_back();
            if (node->refs.load() != found_[node]) continue;
            for (uint32_t i = 0; i < node->n_inputs; ++i) {
                if (const Slot* slot = node->edges()[i].slot) Found(slot);
            }
            if (node->region != nullptr) {
                if (const int result = FoundRegion(node->region)) return result;
            }
        }
        return 0;
    }

 private:
    int FoundRegion(Region* region) {
        const uint32_t n = ++regions_[region];
        if (n != region->nodes.load()) return 0;
        auto* payload = region->foreign ? static_cast<PyObject*>(region->payload) : nullptr;
        uint32_t known = n;
        if (region->view != nullptr) {
            // The function itself refers to the region, and may be held by others.
            if (region->view != payload || Py_REFCNT(payload) != 1) {
                return Visit(payload);
            }
            ++known;
        }
        if (region->refs.load() == known) {
            for (const Slot* slot : region->inputs) Found(slot);
        }
        return Visit(payload);
    }

    int Visit(PyObject* o) { return o != nullptr ? visit_(o, arg_) : 0; }

    visitproc visit_;
    void* arg_;
    std::unordered_map<const Node*, uint32_t> found_;
    std::unordered_map<const Region*, uint32_t> regions_;
    std::vector<std::pair<uint64_t, Node*>> queue_;
};

}  // namespace

void SetFullCollection(bool full) { g_full_collection = full; }

int VisitGraph(const ArrayBody* body, visitproc visit, void* arg) {
    if (body == nullptr || body->slot == nullptr) return 0;
    const Slot* slot = body->slot;
    if (slot->node == nullptr || !slot->node->foreign_below) return 0;
    if (body->strong.load() != 1) return 0;
    Walk walk{visit, arg};
    walk.Found(slot);
    return walk.Run();
}

int VisitInputs(Region* region, visitproc visit, void* arg) {
    if (region == nullptr || region->refs.load() != 1) return 0;
    Walk walk{visit, arg};
    for (const Slot* slot : region->inputs) walk.Found(slot);
    return walk.Run();
}

}  // namespace chainerx::python::engine
