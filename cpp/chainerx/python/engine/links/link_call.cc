#include "chainerx/python/engine/links/link_call.h"

#include <structmember.h>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/links/link_layers.h"
#include "chainerx/python/engine/state.h"

namespace chainerx::python::engine {
namespace {

// A method. What is not the usual call goes to the next method: that of Link runs hooks and
// `forward`, and says in errors which link it was.
struct CallObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* cls;       // which has this method
    PyObject* usual;     // (link, *args) -> the result; None where it is not the usual call
    PyObject* forward;   // what `usual` stands for
    PyObject* call;      // that of Link
    ClassVersion known;  // of the class of links that was last found to have both
};

// Interned, made by InitLinkCall.
PyObject* g_forward;
PyObject* g_call;
PyObject* g_hooks;

PyTypeObject* g_call_type = nullptr;

// The method that stands behind this one for the class of a link, as super() finds it, but for
// others of this type. Borrowed.
PyObject* NextCall(CallObject* self, PyTypeObject* type) {
    PyObject* mro = type->tp_mro;
    bool is_behind = false;
    for (Py_ssize_t i = 0; mro != nullptr && i < PyTuple_GET_SIZE(mro); ++i) {
        PyObject* base = PyTuple_GET_ITEM(mro, i);
        if (!is_behind) {
            is_behind = base == self->cls;
            continue;
        }
        PyObject* dict = reinterpret_cast<PyTypeObject*>(base)->tp_dict;
        PyObject* call = dict != nullptr ? Find(dict, g_call) : nullptr;
        if (call != nullptr && !Py_IS_TYPE(call, g_call_type)) return call;
    }
    throw TypeError{"__call__: ", type->tp_name, " is no class of links that has this method"};
}

bool HasUsualMethods(CallObject* self, PyObject* link) {
    if (self->known.IsOf(link)) return true;
    if (_PyType_Lookup(Py_TYPE(link), g_forward) != self->forward ||
        NextCall(self, Py_TYPE(link)) != self->call) {
        return false;
    }
    self->known = ClassVersion::Of(link);
    return true;
}

// No hook, nor anything in the place of `forward`.
bool IsUsual(CallObject* self, PyObject* link) {
    if (!AreLinkHooksOff() || !HasUsualMethods(self, link)) return false;
    const Ref dict = Check(PyObject_GenericGetDict(link, nullptr));
    return Find(dict.get(), g_hooks) == Py_None && Find(dict.get(), g_forward) == nullptr;
}

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<CallObject*>(o);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    try {
        if (n == 0) throw TypeError{"__call__: expected a link"};
        if (n > 1 && keywords == nullptr && IsUsual(self, args[0])) {
            Ref y = Check(PyObject_Vectorcall(self->usual, args, static_cast<size_t>(n), nullptr));
            if (y.get() != Py_None) return y.Release();
        }
        const Ref next{Py_NewRef(NextCall(self, Py_TYPE(args[0])))};
        if (PyFunction_Check(next.get())) {
            return PyObject_Vectorcall(next.get(), args, static_cast<size_t>(n), keywords);
        }
        const descrgetfunc get = Py_TYPE(next.get())->tp_descr_get;
        if (get == nullptr) {
            return PyObject_Vectorcall(next.get(), args + 1, static_cast<size_t>(n) - 1, keywords);
        }
        const Ref method =
            Check(get(next.get(), args[0], reinterpret_cast<PyObject*>(Py_TYPE(args[0]))));
        return PyObject_Vectorcall(method.get(), args + 1, static_cast<size_t>(n) - 1, keywords);
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

PyObject* DescrGet(PyObject* self, PyObject* link, PyObject*) {
    return link == nullptr ? Py_NewRef(self) : PyMethod_New(self, link);
}

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<CallObject*>(o);
    Py_XDECREF(self->cls);
    Py_XDECREF(self->usual);
    Py_XDECREF(self->forward);
    Py_XDECREF(self->call);
    PyTypeObject* type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
}

// set_call(cls, usual)
PyObject* SetCall(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "set_call";
    try {
        if (n != 2 || !PyType_Check(args[0]) || PyCallable_Check(args[1]) == 0) {
            throw TypeError{op, ": expected a class of links and a callable"};
        }
        const Ref o = Check(g_call_type->tp_alloc(g_call_type, 0));
        auto* self = reinterpret_cast<CallObject*>(o.get());
        self->vectorcall = &Vectorcall;
        self->cls = Py_NewRef(args[0]);
        self->usual = Py_NewRef(args[1]);
        self->forward = Check(PyObject_GetAttr(args[0], g_forward)).Release();
        self->call = Check(PyObject_GetAttr(g_callbacks.link_class, g_call)).Release();
        if (PyObject_SetAttr(args[0], g_call, o.get()) < 0) throw PythonError{};
        Py_RETURN_NONE;
    } catch (...) {
        TranslateException(op);
        return nullptr;
    }
}

// As inspect.signature() and help() want them.
PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallObject, vectorcall), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(CallObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* GetName(PyObject*, void*) { return Py_NewRef(g_call); }

PyGetSetDef g_attributes[] = {{"__name__", &GetName, nullptr, nullptr, nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef g_functions[] = {
    {"set_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SetCall)),
     METH_FASTCALL,
     "set_call(cls, usual): gives a class of links a __call__ that begins with usual(link, *args), "
     "which stands for its forward as it is now; where that is None, or there are hooks, it is "
     "that of Link."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitLinkCall(PyObject* module) {
    g_forward = Check(PyUnicode_InternFromString("forward")).Release();
    g_call = Check(PyUnicode_InternFromString("__call__")).Release();
    g_hooks = Check(PyUnicode_InternFromString("_local_link_hooks")).Release();
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
