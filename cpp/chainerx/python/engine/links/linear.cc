#include "chainerx/python/engine/links/linear.h"

#include <structmember.h>

#include <span>

#include "chainerx/core/error.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/small_array.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ref.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {
namespace {

// What Python has made known; never let go of.
struct {
    PyTypeObject* type;
    PyObject* forward;
    PyObject* call;
    PyObject* call_of_link;  // that of the class Link
    PyObject* entered;       // a list, empty while no hook for all links is on, in any thread
    EntryObject* entry;
    unsigned int version;  // of the class, when its methods were last found to be these
} g_linear{};

PyTypeObject* g_call_type = nullptr;

// Interned, made by InitLinear.
PyObject* g_forward;
PyObject* g_call;
PyObject* g_hooks;
PyObject* g_w;
PyObject* g_b;

// Whether a call of any Linear, in this thread, does what it did when the class was made known: no
// hook for all links is on, nobody has replaced its methods.
bool IsLinearUsual() {
    if (g_linear.type == nullptr || PyList_GET_SIZE(g_linear.entered) != 0) return false;
    if (g_linear.version != 0 && g_linear.type->tp_version_tag == g_linear.version) return true;
    if (_PyType_Lookup(g_linear.type, g_forward) != g_linear.forward ||
        _PyType_Lookup(g_linear.type, g_call) != g_linear.call ||
        _PyType_Lookup(reinterpret_cast<PyTypeObject*>(g_callbacks.link_class), g_call) !=
            g_linear.call_of_link) {
        return false;
    }
    g_linear.version = g_linear.type->tp_version_tag;
    return true;
}

struct LinearLayer {
    Ref w;
    Ref b;  // None if there is none
};

// False where the call of a layer runs a hook, or another `forward`.
bool FindParameters(PyObject* link, LinearLayer& layer) {
    const Ref attributes = Check(PyObject_GenericGetDict(link, nullptr));
    if (Find(attributes.get(), g_hooks) != Py_None ||
        Find(attributes.get(), g_forward) != nullptr) {
        return false;
    }
    layer.w = Ref{Py_XNewRef(Find(attributes.get(), g_w))};
    layer.b = Ref{Py_XNewRef(Find(attributes.get(), g_b))};
    return layer.w && layer.b;
}

// To be called by a handler: the link's own way reports the error, and says in which layer it is.
void DropException(const char* op) {
    TranslateException(op);
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
    PyErr_Clear();
}

PyObject* IsTracing(PyObject*, PyObject*) {
    const State& state = GetState();
    return PyBool_FromLong(Records(state) || IsObserved(state) ? 1 : 0);
}

// zeros(shape, dtype, device): of NumPy if the device is None
PyObject* ZerosFunction(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "zeros";
    try {
        if (n != 3) throw TypeError{op, ": expected a shape, a dtype and a device"};
        const Shape shape = ToShape(op, "shape", args[0]);
        const bool is_numpy = args[2] == Py_None;
        Device& device =
            is_numpy ? GetDefaultContext().GetNativeBackend().GetDevice(0) : ToDevice(args[2]);
        return NewVariable(Zeros(shape, ToDtype(args[1]), device),
                           is_numpy ? Kind::kNumpy : Kind::kChainerx, true);
    } catch (...) {
        return Failed(op);
    }
}

// Applies a function to inputs, and to W and b of layers. Null without an error where the link has
// to call its layers and functions one by one.
PyObject* ApplyTo(EntryObject* entry, PyObject* inputs, PyObject* layers,
                  std::span<PyObject* const> params) try {
    if (!GetState().type_check || !IsLinearUsual()) return nullptr;
    const auto n_inputs = static_cast<size_t>(PyTuple_GET_SIZE(inputs));
    const auto n_layers = static_cast<size_t>(PyTuple_GET_SIZE(layers));
    Objects all{n_inputs + 2 * n_layers + params.size()};
    PyObject** at = all.data();
    for (size_t i = 0; i < n_inputs; ++i) *at++ = Py_NewRef(PyTuple_GET_ITEM(inputs, i));
    for (size_t i = 0; i < n_layers; ++i) {
        PyObject* link = PyTuple_GET_ITEM(layers, i);
        LinearLayer layer;
        if (Py_TYPE(link) != g_linear.type || !FindParameters(link, layer)) return nullptr;
        *at++ = layer.w.Release();
        *at++ = layer.b.Release();
    }
    for (PyObject* param : params) *at++ = Py_NewRef(param);
    return CallEntry(entry, all.data(), all.size());
} catch (...) {
    DropException("apply_to_layers");
    return nullptr;
}

// apply_to_layers(entry, inputs, layers, *attributes)
PyObject* ApplyToLayers(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    const char* op = "apply_to_layers";
    if (n < 3 || !PyTuple_CheckExact(args[1]) || !PyTuple_CheckExact(args[2])) {
        throw TypeError{op, ": expected a function and tuples of inputs and of layers"};
    }
    EntryObject* entry = ToEntry(args[0]);
    if (n - 3 != entry->n_params) {
        throw TypeError{op, ": there are ", n - 3, " attributes, expected ", entry->n_params};
    }
    PyObject* y = ApplyTo(entry, args[1], args[2], {args + 3, static_cast<size_t>(n) - 3});
    return y != nullptr ? y : Py_NewRef(Py_None);
} catch (...) {
    return Failed("apply_to_layers");
}

// ---- __call__ -----------------------------------------------------------------------------------

// A method. What is not the usual call goes to the next method: that of Link runs hooks and
// `forward`, and says in errors which link it was.
struct CallObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* call;  // that of Link
};

// The usual call of a layer. New reference; null without an error where it is another.
PyObject* CallUsual(PyObject* link, PyObject* x) {
    const char* op = "linear";
    try {
        LinearLayer layer;
        if (Py_TYPE(link) != g_linear.type || !IsLinearUsual() || !FindParameters(link, layer) ||
            RowsOfMatrix(op, x) < 0 || RowsOfMatrix(op, layer.w.get()) < 0) {
            return nullptr;
        }
        PyObject* inputs[] = {x, layer.w.get(), layer.b.get()};
        return CallEntry(g_linear.entry, inputs, 3);
    } catch (...) {
        DropException(op);
        return nullptr;
    }
}

// The method that stands behind Linear's for the class of a link, as super() finds it. Borrowed.
PyObject* NextCall(PyTypeObject* type) {
    PyObject* mro = type->tp_mro;
    bool is_behind = false;
    for (Py_ssize_t i = 0; mro != nullptr && i < PyTuple_GET_SIZE(mro); ++i) {
        auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(mro, i));
        if (is_behind && base->tp_dict != nullptr) {
            if (PyObject* call = Find(base->tp_dict, g_call)) return call;
        }
        is_behind |= base == g_linear.type;
    }
    throw TypeError{"__call__: ", type->tp_name, " is no class of links that has this method"};
}

PyObject* Vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* keywords) try {
    const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
    if (n == 0) throw TypeError{"__call__: expected a link"};
    if (n == 2 && keywords == nullptr) {
        if (PyObject* y = CallUsual(args[0], args[1])) return y;
    }
    const Ref next{Py_NewRef(NextCall(Py_TYPE(args[0])))};
    if (PyFunction_Check(next.get())) {
        return PyObject_Vectorcall(next.get(), args, n, keywords);
    }
    const descrgetfunc get = Py_TYPE(next.get())->tp_descr_get;
    if (get == nullptr) return PyObject_Vectorcall(next.get(), args + 1, n - 1, keywords);
    const Ref method =
        Check(get(next.get(), args[0], reinterpret_cast<PyObject*>(Py_TYPE(args[0]))));
    return PyObject_Vectorcall(method.get(), args + 1, n - 1, keywords);
} catch (...) {
    return Failed();
}

PyObject* DescrGet(PyObject* self, PyObject* link, PyObject*) {
    return link == nullptr ? Py_NewRef(self) : PyMethod_New(self, link);
}

void Dealloc(PyObject* o) {
    Py_XDECREF(reinterpret_cast<CallObject*>(o)->call);
    FreeInstance(o);
}

// As inspect.signature() and help() want them.
PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallObject, vectorcall), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(CallObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* GetName(PyObject*, void*) { return Py_NewRef(g_call); }

PyGetSetDef g_attributes[] = {{"__name__", &GetName, nullptr, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};

// set_linear(Linear, hooks for all links, LinearFunction.call)
PyObject* SetLinear(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "set_linear";
    try {
        if (n != 3 || !PyType_Check(args[0]) || !PyList_CheckExact(args[1])) {
            throw TypeError{op, ": expected a class, a list and an entry"};
        }
        EntryObject* entry = ToEntry(args[2]);
        const auto look_up = [](PyObject* in, PyObject* name) {
            return Py_XNewRef(_PyType_Lookup(reinterpret_cast<PyTypeObject*>(in), name));
        };
        PyObject* call_of_link = look_up(g_callbacks.link_class, g_call);
        const Ref call = Check(g_call_type->tp_alloc(g_call_type, 0));
        auto* object = reinterpret_cast<CallObject*>(call.get());
        object->vectorcall = &Vectorcall;
        object->call = Py_XNewRef(call_of_link);
        if (PyObject_SetAttr(args[0], g_call, call.get()) < 0) throw PythonError{};
        Py_INCREF(args[2]);
        g_linear = {.type = reinterpret_cast<PyTypeObject*>(Py_NewRef(args[0])),
                    .forward = look_up(args[0], g_forward),
                    .call = look_up(args[0], g_call),
                    .call_of_link = call_of_link,
                    .entered = Py_NewRef(args[1]),
                    .entry = entry,
                    .version = 0};
        Py_RETURN_NONE;
    } catch (...) {
        return Failed(op);
    }
}

PyMethodDef g_functions[] = {
    {"set_linear", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SetLinear)),
     METH_FASTCALL,
     "set_linear(Linear, entered, entry): sets __call__ of the class of linear layers, given the "
     "list of hooks for all links and the function that the layers call."},
    {"apply_to_layers", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ApplyToLayers)),
     METH_FASTCALL,
     "apply_to_layers(function, inputs, layers, *attributes): the function of the inputs, and of W "
     "and b of each layer; None if a call of a layer may do more than compute with them, if types "
     "are not checked, or if the function raises."},
    {"is_tracing", &IsTracing, METH_NOARGS,
     "Whether calls of functions are recorded for backward, or observed by hooks or the debug "
     "mode."},
    {"zeros", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ZerosFunction)),
     METH_FASTCALL, "zeros(shape, dtype, device): a variable that holds a chainerx array."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitLinear(PyObject* module) {
    const auto intern = [](const char* name) { return Check(PyUnicode_InternFromString(name)); };
    g_forward = intern("forward").Release();
    g_call = intern("__call__").Release();
    g_hooks = intern("_local_link_hooks").Release();
    g_w = intern("W").Release();
    g_b = intern("b").Release();
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
                                  {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                  {Py_tp_descr_get, reinterpret_cast<void*>(&DescrGet)},
                                  {Py_tp_getset, g_attributes},
                                  {Py_tp_members, g_members},
                                  {Py_tp_doc, const_cast<char*>("Calls a link.")},
                                  {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.LinkCall", sizeof(CallObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                   Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
    g_call_type = reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace chainerx::python::engine
