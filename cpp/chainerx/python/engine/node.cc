#include "chainerx/python/engine/node.h"

#include <structmember.h>

#include "chainerx/autograd/graph_view.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

using internal::Slot;

namespace {

struct NodeObject {
    PyObject_HEAD PyObject* weakrefs;
    Slot* slot;      // owned
    PyObject* name;  // null: the name of the variable
    Kind kind;       // of the arrays of that slot
};

PyTypeObject* g_node_type = nullptr;

NodeObject* AsNode(PyObject* o) { return reinterpret_cast<NodeObject*>(o); }

PyObject* NewNode(Slot* slot, Kind kind) {
    const Hold<Slot> hold{slot};
    auto* type = reinterpret_cast<PyTypeObject*>(g_callbacks.node_class);
    if (type == nullptr) throw ChainerxError{"VariableNode: chainer was not imported"};
    PyObject* o = type->tp_alloc(type, 0);
    if (o == nullptr) throw PythonError{};
    slot->Ref();
    AsNode(o)->slot = slot;
    AsNode(o)->kind = kind;
    return o;
}

PyObject* New(PyTypeObject*, PyObject* args, PyObject* keywords) try {
    static const char* names[] = {"variable", "name", nullptr};
    PyObject* variable;
    PyObject* name = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O:VariableNode", const_cast<char**>(names),
                                     g_variable_type, &variable, &name)) {
        return nullptr;
    }
    VariableObject* v = AsVariable(variable);
    PyObject* o = NewNode(SlotOf("VariableNode", v), v->storage->kind);
    if (Given(name)) AsNode(o)->name = Py_NewRef(name);
    return o;
} catch (...) {
    return Failed();
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(AsNode(self)->name);
    return VisitSlot(self, AsNode(self)->slot, visit, arg);
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    NodeObject* n = AsNode(self);
    // First, so that no one finds it there any more.
    if (n->slot != nullptr && n->slot->view == n) n->slot->view = nullptr;
    if (n->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
    if (n->slot != nullptr) n->slot->Unref();
    Py_XDECREF(n->name);
    FreeInstance(self);
}

template <PyObject* (*kGet)(NodeObject*)>
PyObject* Get(PyObject* self, void*) try {
    return kGet(AsNode(self));
} catch (...) {
    return Failed();
}

PyObject* VariableOrNone(NodeObject* n) {
    auto* v = reinterpret_cast<PyObject*>(LivingVariable(n->slot));
    return Py_NewRef(v != nullptr ? v : Py_None);
}

// The array of the variable may have another kind by now.
Kind KindAt(NodeObject* n) {
    const auto* v = static_cast<VariableObject*>(n->slot->variable);
    return v != nullptr ? v->storage->kind : n->kind;
}

PyObject* GetVariable(NodeObject* n) {
    const bool is_new = LivingVariable(n->slot) == nullptr;
    PyObject* v = VariableAt(n->slot, KindAt(n), nullptr);
    if (v == nullptr) {  // a variable without data still has its slot
        const bool requires_grad = (n->slot->live.load() & GraphBit()) != 0;
        v = NewUnrecordedVariable(Py_None, n->kind, requires_grad);
        AsVariable(v)->node = Py_NewRef(reinterpret_cast<PyObject*>(n));
    }
    if (is_new && n->name != nullptr) Py_XSETREF(AsVariable(v)->name, Py_NewRef(n->name));
    return v;
}

PyObject* Data(NodeObject* n) {
    const Ref v{VariableAt(n->slot, KindAt(n), nullptr)};
    if (!v) Py_RETURN_NONE;
    return ArrayOf(AsVariable(v.get()));
}

PyObject* Grad(NodeObject* n, bool as_variable) {
    const Ref v{Py_XNewRef(reinterpret_cast<PyObject*>(LivingVariable(n->slot)))};
    if (v) return PyObject_GetAttrString(v.get(), as_variable ? "grad_var" : "grad");
    Array g = n->slot->GetGrad(GraphBit());
    if (g.is_null()) Py_RETURN_NONE;
    if (!as_variable) return ToKind(g, KindAt(n));
    return NewVariable(std::move(g), KindAt(n), true);
}

PyObject* Name(PyObject* self, void*) {
    NodeObject* n = AsNode(self);
    if (n->name != nullptr) return Py_NewRef(n->name);
    auto* v = static_cast<VariableObject*>(n->slot->variable);
    return Py_NewRef(v != nullptr && v->name != nullptr ? v->name : Py_None);
}

// Nodes own no data: functions keep all that they need.
int SetData(PyObject*, PyObject*, void*) { return 0; }

int SetName(PyObject* self, PyObject* name, void*) {
    Py_XSETREF(AsNode(self)->name, Given(name) ? Py_NewRef(name) : nullptr);
    return 0;
}

PyGetSetDef g_getset[] = {
    {"shape", &Get<[](NodeObject* n) { return FromShape(n->slot->shape); }>, nullptr, "Dimensions.",
     nullptr},
    {"dtype", &Get<[](NodeObject* n) { return FromDtype(n->slot->dtype); }>, nullptr,
     "Element type.", nullptr},
    {"rank",
     &Get<[](NodeObject* n) { return PyLong_FromLongLong(internal::VisibleRank(n->slot)); }>,
     nullptr, "The number of functions on the longest path to a leaf.", nullptr},
    {"requires_grad",
     &Get<[](NodeObject* n) { return PyBool_FromLong((n->slot->live.load() & GraphBit()) != 0); }>,
     nullptr, "Whether gradients flow through here.", nullptr},
    {"_creator_node", &Get<[](NodeObject* n) { return CreatorOf(n->slot); }>, nullptr,
     "The FunctionNode that created it, or None.", nullptr},
    {"data", &Get<&Data>, &SetData, "The array, or None if nothing keeps it.", nullptr},
    {"grad", &Get<[](NodeObject* n) { return Grad(n, false); }>, nullptr,
     "The gradient array, or None.", nullptr},
    {"grad_var", &Get<[](NodeObject* n) { return Grad(n, true); }>, nullptr,
     "The gradient, or None.", nullptr},
    {"name", &Name, &SetName, "The name of the variable.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <PyObject* (*kGet)(NodeObject*)>
PyObject* Method(PyObject* self, PyObject*) {
    return Get<kGet>(self, nullptr);
}

PyObject* Unchain(PyObject* self, PyObject*) {
    Cut(AsNode(self)->slot);
    Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {{"get_variable", &Method<&GetVariable>, METH_NOARGS,
                            "get_variable($self)\n"
                            "--\n\n"
                            "The variable of this node; a new one if the old one is gone, without "
                            "data unless a function retained it."},
                           {"get_variable_or_none", &Method<&VariableOrNone>, METH_NOARGS,
                            "get_variable_or_none($self)\n"
                            "--\n\n"
                            "The variable of this node; None if it is gone."},
                           {"unchain", &Unchain, METH_NOARGS,
                            "unchain($self)\n"
                            "--\n\n"
                            "Drops the creator, so that backward ends here."},
                           {nullptr, nullptr, 0, nullptr}};

Py_hash_t Hash(PyObject* self) {
    return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(AsNode(self)->slot) >> 4);
}

PyObject* Compare(PyObject* l, PyObject* r, int op) {
    if (Py_TYPE(l) != Py_TYPE(r) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong((AsNode(l)->slot == AsNode(r)->slot) == (op == Py_EQ));
}

PyMemberDef g_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(NodeObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

Slot* SlotOfNode(PyObject* node) { return AsNode(node)->slot; }

void KeepName(const Slot* slot, PyObject* name) {
    auto* n = static_cast<NodeObject*>(slot->view);
    if (n != nullptr && n->name == nullptr) n->name = Py_NewRef(name);
}

PyObject* NodeOf(Slot* slot, Kind kind) {
    if (slot->view != nullptr) return Py_NewRef(static_cast<PyObject*>(slot->view));
    const Hold<Slot> hold{slot};
    Ref node{NewNode(slot, kind)};
    // Set meanwhile.
    if (slot->view != nullptr) return Py_NewRef(static_cast<PyObject*>(slot->view));
    slot->view = node.get();
    return node.Release();
}

void InitNode(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_members, g_members},
        {Py_tp_getset, g_getset},
        {Py_tp_methods, g_methods},
        {Py_tp_hash, reinterpret_cast<void*>(&Hash)},
        {Py_tp_richcompare, reinterpret_cast<void*>(&Compare)},
        {Py_tp_doc,
         const_cast<char*>(
             "VariableNode(variable, name=None)\n"
             "--\n\n"
             "The node of a variable in the graph. It keeps the graph alive, but not the array.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.VariableNode", sizeof(NodeObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    g_node_type = AddType(module, spec);
}

}  // namespace chainerx::python::engine
