#include "chainerx/python/engine/traverse.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "chainerx/ops/checkpoint.h"
#include "chainerx/python/functional.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

using internal::ArrayBody;
using internal::Node;
using internal::Region;
using internal::Slot;

namespace {

PyObject* PayloadOf(const Region* region) {
    return region->foreign ? static_cast<PyObject*>(region->payload) : nullptr;
}

// Regions that became foreign after nodes above them had been recorded, which do not know it.
std::atomic<int> g_late{0};

bool IsKnownForeign(const Slot* slot) {
    return slot != nullptr && slot->node != nullptr && slot->node->foreign_below;
}

bool IsForeign(const Slot* slot) {
    return slot != nullptr && slot->node != nullptr &&
           (slot->node->foreign_below || g_late.load(std::memory_order_relaxed) != 0);
}

// The gradient that belongs to a body, or null. Other gradients of the same slot belong to no body.
const ArrayBody* GradientOf(const ArrayBody* body) {
    Slot* slot = body->slot;
    if (slot == nullptr || slot->body != body) return nullptr;
    const std::lock_guard guard{slot->lock};
    return slot->grad.grad.body();
}

// ---- a collection of all generations ------------------------------------------------------------

// The visit function of the pass that subtracts; null if unknown.
visitproc g_subtract = nullptr;

// The state of a full collection. Guarded by the GIL.
struct Collection {
    bool active{false};
    std::unordered_set<const void*> owners;  // visited in this pass of subtraction
    std::unordered_map<const ArrayBody*, uint32_t> bodies;
    std::unordered_map<const Node*, uint32_t> nodes;
    std::unordered_map<const Region*, uint32_t> region_nodes;
    std::unordered_map<const Region*, uint32_t> region_refs;
    visitproc mark{nullptr};  // of a later pass
    std::unordered_set<const void*> marked;
    std::unordered_set<const Region*> paid;  // regions whose payload was visited
    // The current pass, during which the next member is true.
    visitproc pass{nullptr};
    std::unordered_map<const ArrayBody*, bool> gradients;  // bodies with gradients; see IsForeign()

    // Resets the state for a new pass. Between passes, any code may run.
    void Enter(visitproc visit) {
        if (pass != visit) gradients.clear();
        pass = visit;
    }

    void Clear() {
        owners.clear();
        bodies.clear();
        nodes.clear();
        region_nodes.clear();
        region_refs.clear();
        mark = nullptr;
        marked.clear();
        paid.clear();
        pass = nullptr;
        gradients.clear();
    }
};

Collection g_collection;

// Whether functions that users wrote are below an array, or below its gradient, or that one's. Each
// array of a chain of gradients is queried, and so the result for the first is cached.
bool IsForeign(const ArrayBody* body) {
    if (body == nullptr || body->slot == nullptr) return false;
    if (IsForeign(body->slot)) return true;
    std::vector<const ArrayBody*> passed;
    bool foreign = false;
    for (body = GradientOf(body); body != nullptr && body->slot != nullptr;
         body = GradientOf(body)) {
        const auto known = g_collection.gradients.find(body);
        const bool is_known = known != g_collection.gradients.end();
        foreign = is_known ? known->second : IsForeign(body->slot);
        if (foreign || is_known) break;
        passed.push_back(body);
    }
    if (passed.size() > 1) {
        for (const ArrayBody* p : passed) g_collection.gradients[p] = foreign;
    }
    return foreign;
}

// Counts references; continues from an object all of whose references have been found.
class Count {
 public:
    Count(const void* owner, visitproc visit, void* arg) : visit_{visit}, arg_{arg} {
        // The collector subtracts again after finalizers have run.
        if (!c_.owners.insert(owner).second) {
            c_.Clear();
            c_.owners.insert(owner);
        }
    }

    void Found(const ArrayBody* body) {
        // Gradients form no cycles of bodies.
        while (IsForeign(body) && ++c_.bodies[body] == body->StrongCount()) {
            Found(body->slot);
            body = GradientOf(body);
        }
    }

    void Found(const Slot* slot) {
        if (IsForeign(slot) && ++c_.nodes[slot->node] == slot->node->refs.load()) {
            complete_.push_back(slot->node);
        }
    }

    void Found(Region* region) {
        if (++c_.region_refs[region] != region->refs.load()) return;
        for (const Slot* slot : region->inputs) Found(slot);
    }

    int Run() {
        while (!complete_.empty()) {
            Node* node = complete_.back();
            complete_.pop_back();
            for (uint32_t i = 0; i < node->n_inputs; ++i) Found(node->edges()[i].slot);
            if (const int result = VisitCheckpoint(node, visit_, arg_)) return result;
            Region* region = node->region;
            if (region == nullptr) continue;
            Found(region);
            if (++c_.region_nodes[region] != region->nodes.load()) continue;
            if (PyObject* payload = PayloadOf(region)) {
                if (const int result = visit_(payload, arg_)) return result;
            }
        }
        return 0;
    }

 private:
    Collection& c_{g_collection};
    visitproc visit_;
    void* arg_;
    std::vector<Node*> complete_;
};

// Visits all that is reachable and was not visited in this pass.
class Mark {
 public:
    Mark(visitproc visit, void* arg) : visit_{visit}, arg_{arg} {
        if (c_.mark == visit) return;
        c_.mark = visit;
        c_.marked.clear();
        c_.paid.clear();
    }

    void Reach(const ArrayBody* body) {
        while (IsForeign(body) && c_.marked.insert(body).second) {
            Reach(body->slot);
            body = GradientOf(body);
        }
    }

    void Reach(const Slot* slot) {
        if (IsForeign(slot) && c_.marked.insert(slot->node).second) todo_.push_back(slot->node);
    }

    void Reach(Region* region) {
        if (!c_.marked.insert(region).second) return;
        for (const Slot* slot : region->inputs) Reach(slot);
    }

    int Run() {
        while (!todo_.empty()) {
            Node* node = todo_.back();
            todo_.pop_back();
            for (uint32_t i = 0; i < node->n_inputs; ++i) Reach(node->edges()[i].slot);
            if (internal::IsCheckpoint(*node)) checkpoints_.push_back(node);
            Region* region = node->region;
            if (region == nullptr) continue;
            Reach(region);
            // Nodes keep the payload; an object that only refers to the region does not.
            if (c_.paid.insert(region).second) regions_.push_back(region);
        }
        for (Node* node : checkpoints_) {
            if (const int result = VisitCheckpoint(node, visit_, arg_)) return result;
        }
        for (const Region* region : regions_) {
            if (PyObject* payload = PayloadOf(region)) {
                if (const int result = visit_(payload, arg_)) return result;
            }
        }
        return 0;
    }

 private:
    Collection& c_{g_collection};
    visitproc visit_;
    void* arg_;
    std::vector<Node*> todo_;
    std::vector<Node*> checkpoints_;
    std::vector<Region*> regions_;
};

template <typename T>
int VisitInFull(const void* owner, T* thing, visitproc visit, void* arg) {
    if (visit == g_subtract) {
        Count count{owner, visit, arg};
        count.Found(thing);
        return count.Run();
    }
    Mark mark{visit, arg};
    mark.Reach(thing);
    return mark.Run();
}

// ---- any other visit ----------------------------------------------------------------------------

// Young collections are frequent, and a variable at the end of a long chain is always young.
constexpr int kMaxYoung = 500;

// Finds the objects that one object alone keeps alive; its other owners may be of an older
// generation, which a young collection does not visit. Goes through nodes from newest to oldest and
// counts the references that it finds. A node is older than all that refer to it, and so its count
// is complete when it is reached; if these are all its references, then it is unreachable from
// outside.
class Traversal {
 public:
    Traversal(visitproc visit, void* arg) : visit_{visit}, arg_{arg} {}

    void Found(const Slot* slot) {
        if (!IsKnownForeign(slot) || found_[slot->node]++ != 0) return;
        queue_.emplace_back(slot->node->sequence, slot->node);
        std::push_heap(queue_.begin(), queue_.end());
    }

    int Run() {
        // Unreported objects are kept: the next full collection sees them.
        for (int left = kMaxYoung; !queue_.empty() && left != 0; --left) {
            std::pop_heap(queue_.begin(), queue_.end());
            Node* node = queue_.back().second;
            queue_.pop_back();
            if (node->refs.load() != found_[node]) continue;
            for (uint32_t i = 0; i < node->n_inputs; ++i) Found(node->edges()[i].slot);
            if (const int result = VisitCheckpoint(node, visit_, arg_)) return result;
            if (node->region == nullptr) continue;
            if (const int result = FoundRegion(node->region)) return result;
        }
        return 0;
    }

 private:
    int FoundRegion(Region* region) {
        const uint32_t n = ++regions_[region];
        if (n != region->nodes.load()) return 0;
        PyObject* payload = PayloadOf(region);
        // The function itself refers to the region, and others may hold it.
        const bool held =
            region->view != nullptr && (region->view != payload || Py_REFCNT(payload) != 1);
        const uint32_t known = n + (region->view != nullptr ? 1 : 0);
        if (!held && region->refs.load() == known) {
            for (const Slot* slot : region->inputs) Found(slot);
        }
        return payload != nullptr ? visit_(payload, arg_) : 0;
    }

    visitproc visit_;
    void* arg_;
    std::unordered_map<const Node*, uint32_t> found_;
    std::unordered_map<const Region*, uint32_t> regions_;
    std::vector<std::pair<uint64_t, Node*>> queue_;
};

// ---- when the collector runs --------------------------------------------------------------------

// An object that learns the visit function with which the collector subtracts, which is the first
// that visits it.
struct Probe {
    PyObject_HEAD
};

int TraverseProbe(PyObject* self, visitproc visit, void* arg) {
    if (g_subtract == nullptr) g_subtract = visit;
    Py_VISIT(Py_TYPE(self));
    return 0;
}

void DeallocProbe(PyObject* self) {
    PyObject_GC_UnTrack(self);
    FreeInstance(self);
}

#ifdef Py_GIL_DISABLED
constexpr bool kHasGil = false;
#else
constexpr bool kHasGil = true;
#endif

// Whether a collection of all generations begins: only then can the engine tell who owns a part of
// the graph.
bool IsStartOfFull(PyObject* phase, PyObject* info) {
    if (!PyUnicode_Check(phase) || PyUnicode_CompareWithASCIIString(phase, "start") != 0 ||
        !PyDict_Check(info)) {
        return false;
    }
    PyObject* generation = PyDict_GetItemString(info, "generation");
    return generation != nullptr && PyLong_Check(generation) && PyLong_AsLong(generation) == 2;
}

// on_collection(phase, info), for gc.callbacks. It is in C++ because a signal handler, such as that
// of Ctrl-C, may raise inside a function of Python: the collector would drop the exception and miss
// the end of the collection.
PyObject* OnCollection(PyObject*, PyObject* const* args, Py_ssize_t n_args) {
    g_collection.Clear();
    g_collection.active =
        kHasGil && n_args == 2 && g_subtract != nullptr && IsStartOfFull(args[0], args[1]);
    Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"on_collection", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&OnCollection)),
     METH_FASTCALL, "Called by gc.callbacks: a collection begins or ends."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void BecomeForeign(Region* region) {
    if (region->foreign) return;
    region->foreign = true;
    if (region->nodes.load() == 0) return;
    region->late = true;
    ++g_late;
}

void ForgetForeign(Region* region) {
    if (region->late) --g_late;
    region->late = false;
}

int VisitGraph(const void* owner, const ArrayBody* body, visitproc visit, void* arg) {
    if (body == nullptr || body->slot == nullptr) return 0;
    if (g_collection.active) {
        g_collection.Enter(visit);
        return IsForeign(body) ? VisitInFull(owner, body, visit, arg) : 0;
    }
    if (body->StrongCount() != 1) return 0;
    return VisitSlot(owner, body->slot, visit, arg);
}

int VisitSlot(const void* owner, const Slot* slot, visitproc visit, void* arg) {
    if (g_collection.active) {
        return IsForeign(slot) ? VisitInFull(owner, slot, visit, arg) : 0;
    }
    if (!IsKnownForeign(slot)) return 0;
    Traversal traversal{visit, arg};
    traversal.Found(slot);
    return traversal.Run();
}

int VisitRegion(const void* owner, Region* region, visitproc visit, void* arg) {
    if (region == nullptr) return 0;
    if (g_collection.active) return VisitInFull(owner, region, visit, arg);
    if (region->refs.load() != 1) return 0;
    Traversal traversal{visit, arg};
    for (const Slot* slot : region->inputs) traversal.Found(slot);
    return traversal.Run();
}

void InitTraverse(PyObject* module) {
    g_visit_graph = &VisitGraph;
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&PyType_GenericNew)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(&TraverseProbe)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(&DeallocProbe)},
                                  {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.CollectorProbe", sizeof(Probe), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
    AddType(module, spec, g_functions);
}

}  // namespace chainerx::python::engine
