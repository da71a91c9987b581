#include "chainerx/python/engine/links/link_layers.h"

#include <cstdint>
#include <iterator>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"

namespace chainerx::python::engine {
namespace {

// What Python has made known; never let go of.
struct {
    PyTypeObject* type;
    PyObject* forward;
    PyObject* call;
    PyObject* call_of_link;  // that of the class Link
    PyObject* setattr;
    PyObject* entered;  // a list, empty while no hook for all links is on
    EntryObject* entry;
    unsigned int version;  // of the class, when its methods were last found to be these
} g_linear{};

// Interned, made by InitLinkLayers.
PyObject* g_forward;
PyObject* g_call;
PyObject* g_setattr;
PyObject* g_hooks;
PyObject* g_w;
PyObject* g_b;

PyTypeObject* LinkClass() { return reinterpret_cast<PyTypeObject*>(g_callbacks.link_class); }

// set_linear(Linear, hooks for all links, LinearFunction.call)
PyObject* SetLinear(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "set_linear";
    try {
        if (n != 3 || !PyType_Check(args[0]) || !PyList_CheckExact(args[1])) {
            throw TypeError{op, ": expected a class, a list and an entry"};
        }
        EntryObject* entry = ToEntry(args[2]);
        auto* type = reinterpret_cast<PyTypeObject*>(args[0]);
        const auto look_up = [](PyTypeObject* in, PyObject* name) {
            return Py_XNewRef(_PyType_Lookup(in, name));
        };
        g_linear = {.type = reinterpret_cast<PyTypeObject*>(Py_NewRef(args[0])),
                    .forward = look_up(type, g_forward),
                    .call = look_up(type, g_call),
                    .call_of_link = look_up(LinkClass(), g_call),
                    .setattr = look_up(type, g_setattr),
                    .entered = Py_NewRef(args[1]),
                    .entry = entry,
                    .version = 0};
        Py_INCREF(args[2]);
        Py_RETURN_NONE;
    } catch (...) {
        TranslateException(op);
        return nullptr;
    }
}

// Parameters of layers that were found in their dicts. Borrowed: a dict that has the version still
// has them. What is pushed out is looked up again.
struct KnownLayer {
    PyObject* dict;
    DictVersion version;
    PyObject* w;
    PyObject* b;
};

KnownLayer& PlaceOf(PyObject* dict) {
    static KnownLayer known[64];
    return known[(reinterpret_cast<uintptr_t>(dict) >> 4) % std::size(known)];
}

bool FindParameters(PyObject* link, LinearLayer& layer) {
    const Ref attributes = Check(PyObject_GenericGetDict(link, nullptr));
    KnownLayer& known = PlaceOf(attributes.get());
    if (known.dict == attributes.get() && known.version.IsOf(known.dict)) {
        layer.w = Ref{Py_NewRef(known.w)};
        layer.b = Ref{Py_NewRef(known.b)};
        return true;
    }
    // Before the look-ups, which may run code of the user's.
    const DictVersion version{attributes.get()};
    if (Find(attributes.get(), g_hooks) != Py_None ||
        Find(attributes.get(), g_forward) != nullptr) {
        return false;
    }
    layer.w = Ref{Py_XNewRef(Find(attributes.get(), g_w))};
    layer.b = Ref{Py_XNewRef(Find(attributes.get(), g_b))};
    if (!layer.w || !layer.b) return false;
    PlaceOf(attributes.get()) = {attributes.get(), version, layer.w.get(), layer.b.get()};
    return true;
}

// linear_link(link, x)
PyObject* CallLinear(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "linear";
    try {
        LinearLayer layer;
        if (n != 2 || Py_TYPE(args[0]) != g_linear.type || !IsLinearUsual() ||
            !FindParameters(args[0], layer) || RowsOfMatrix(op, args[1]) < 0 ||
            RowsOfMatrix(op, layer.w.get()) < 0) {
            Py_RETURN_NONE;
        }
        PyObject* inputs[] = {args[1], layer.w.get(), layer.b.get()};
        return CallEntry(g_linear.entry, inputs, 3);
    } catch (...) {
        TranslateException(op);
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
        PyErr_Clear();  // Python's own way says in which link it is
        Py_RETURN_NONE;
    }
}

PyMethodDef g_functions[] = {
    {"set_linear", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SetLinear)),
     METH_FASTCALL,
     "set_linear(Linear, entered, entry): the class of linear layers as it is now, the list of "
     "hooks for all links, and the function that the layers call."},
    {"linear_link", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallLinear)),
     METH_FASTCALL, "linear_link(link, x): the usual call of a layer; None where it is another."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool AreLinkHooksOff() {
    return g_linear.type != nullptr && PyList_GET_SIZE(g_linear.entered) == 0;
}

bool IsLinearUsual() {
    if (!AreLinkHooksOff()) return false;
    if (g_linear.version != 0 && g_linear.type->tp_version_tag == g_linear.version) return true;
    if (_PyType_Lookup(g_linear.type, g_forward) != g_linear.forward ||
        _PyType_Lookup(g_linear.type, g_call) != g_linear.call ||
        _PyType_Lookup(LinkClass(), g_call) != g_linear.call_of_link) {
        return false;
    }
    g_linear.version = g_linear.type->tp_version_tag;
    return true;
}

bool FindLinear(PyObject* dict, PyObject* name, LinearLayer& layer) {
    const Ref link{Py_XNewRef(Find(dict, name))};
    if (!link || Py_TYPE(link.get()) != g_linear.type) return false;
    return FindParameters(link.get(), layer);
}

EntryObject* LinearFunction() { return g_linear.entry; }

bool HasUsualSetattr(PyTypeObject* type) {
    return _PyType_Lookup(type, g_setattr) == g_linear.setattr;
}

void InitLinkLayers(PyObject* module) {
    const auto intern = [](const char* name) { return Check(PyUnicode_InternFromString(name)); };
    g_forward = intern("forward").Release();
    g_call = intern("__call__").Release();
    g_setattr = intern("__setattr__").Release();
    g_hooks = intern("_local_link_hooks").Release();
    g_w = intern("W").Release();
    g_b = intern("b").Release();
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine
