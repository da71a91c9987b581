// Attributes and methods of FunctionNode that describe its position in the graph.
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

using internal::Region;
using internal::Slot;

namespace {

// A weak reference to the node of an output. It is callable, as weakref.ref is.
struct OutputRef {
    PyObject_HEAD Region* region;  // owned
    uint32_t index;
};
PyTypeObject* g_output_ref_type = nullptr;

int TraverseOutputRef(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return VisitRegion(self, reinterpret_cast<OutputRef*>(self)->region, visit, arg);
}

void DeallocOutputRef(PyObject* self) {
    PyObject_GC_UnTrack(self);
    reinterpret_cast<OutputRef*>(self)->region->Unref();
    FreeInstance(self);
}

PyObject* CallOutputRef(PyObject* self, PyObject*, PyObject*) try {
    auto* ref = reinterpret_cast<OutputRef*>(self);
    internal::SlotList& outputs = ref->region->outputs;
    Slot* slot = ref->index < outputs.size() ? outputs[ref->index] : nullptr;
    if (slot == nullptr) Py_RETURN_NONE;
    return NodeOf(slot, static_cast<Kind>(ref->region->kind));
} catch (...) {
    return Failed();
}

// Whether the function was applied to no inputs. An unchained one has no outputs in the graph.
bool IsSource(Region& region) {
    for (const Slot* slot : region.outputs) {
        if (slot != nullptr && slot->node != nullptr &&
            !slot->cut.load(std::memory_order_relaxed)) {
            return region.inputs.empty();
        }
    }
    return false;
}

PyObject* Inputs(PyObject* self, void*) try {
    Region* region = AsFunction(self)->region;
    if (region == nullptr) Py_RETURN_NONE;
    if (region->inputs.empty()) return IsSource(*region) ? PyTuple_New(0) : Py_NewRef(Py_None);
    if (region->input_views != nullptr) {
        return Py_NewRef(static_cast<PyObject*>(region->input_views));
    }
    const Hold<Region> hold{region};  // the collector may run code of the user's
    const uint32_t n = region->inputs.size();
    Ref tuple = Check(PyTuple_New(n));
    for (uint32_t i = 0; i < n; ++i) {
        Slot* slot = i < region->inputs.size() ? region->inputs[i] : nullptr;
        const auto kind = static_cast<Kind>(region->kind);
        PyTuple_SET_ITEM(tuple.get(), i, slot != nullptr ? NodeOf(slot, kind) : Py_NewRef(Py_None));
    }
    const bool stays = AsFunction(self)->seen && region->view == self;
    if (stays && !region->inputs.empty() && region->input_views == nullptr) {
        region->input_views = Py_NewRef(tuple.get());
        region->release_views = [](void* views) noexcept {
            ReleaseObject(static_cast<PyObject*>(views));
        };
    }
    return tuple.Release();
} catch (...) {
    return Failed();
}

PyObject* Outputs(PyObject* self, void*) {
    Region* region = AsFunction(self)->region;
    // None before it is applied, and after it is unchained.
    if (region == nullptr || region->inputs.empty()) Py_RETURN_NONE;
    const Hold<Region> hold{region};  // the collector may run code of the user's
    const uint32_t n = region->outputs.size();
    Ref tuple{PyTuple_New(n)};
    if (!tuple) return nullptr;
    for (uint32_t i = 0; i < n; ++i) {
        auto* ref = PyObject_GC_New(OutputRef, g_output_ref_type);
        if (ref == nullptr) return nullptr;
        region->Ref();
        ref->region = region;
        ref->index = i;
        PyObject_GC_Track(reinterpret_cast<PyObject*>(ref));
        PyTuple_SET_ITEM(tuple.get(), i, reinterpret_cast<PyObject*>(ref));
    }
    return tuple.Release();
}

PyObject* Rank(PyObject* self, void*) {
    const Region* region = AsFunction(self)->region;
    return PyLong_FromLongLong(region != nullptr ? region->rank : 0);
}

PyObject* UnchainFunction(PyObject* self, PyObject*) {
    if (Region* region = AsFunction(self)->region) {
        const Hold<Region> hold{region};  // the deallocations below may run code of the user
        for (Slot* slot : region->outputs) {
            if (slot != nullptr) Cut(slot);
        }
        // The nodes form a chain that ends at the outputs: all that they refer to is released with
        // them.
        for (Slot* slot : region->outputs) {
            if (slot != nullptr && slot->node != nullptr) slot->node->Unchain();
        }
        region->DropInputs();
    }
    Py_RETURN_NONE;
}

PyGetSetDef g_getset[] = {
    {"inputs", &Inputs, nullptr,
     "A tuple of VariableNodes; None before the function is applied, and when it is unchained.",
     nullptr},
    {"outputs", &Outputs, nullptr,
     "A tuple of weak references to VariableNodes; None before the function is applied.", nullptr},
    {"rank", &Rank, nullptr, "The number of functions on the longest path from here to a leaf.",
     nullptr},
    {"__dict__", &PyObject_GenericGetDict, &PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef g_methods[] = {{"unchain", &UnchainFunction, METH_NOARGS,
                            "unchain($self)\n--\n\nCuts the function from its inputs and outputs."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyGetSetDef* FunctionAttributes() { return g_getset; }
PyMethodDef* FunctionMethods() { return g_methods; }

void InitFunctionAttributes() {
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&DeallocOutputRef)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(&TraverseOutputRef)},
                                  {Py_tp_call, reinterpret_cast<void*>(&CallOutputRef)},
                                  {0, nullptr}};
    static PyType_Spec spec = {
        "chainerx._core.engine.OutputRef", sizeof(OutputRef), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC, slots};
    g_output_ref_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (g_output_ref_type == nullptr) throw PythonError{};
}

}  // namespace chainerx::python::engine
