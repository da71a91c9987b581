#include "chainerx/python/engine/links/link_sequences.h"

#include <structmember.h>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/links/link_members.h"
#include "chainerx/python/engine/links/link_sequences_call.h"
#include "chainerx/python/engine/native.h"

namespace chainerx::python::engine {
namespace {

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<SequencesObject*>(o);
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    try {
        // What else links are called with is not ours to say.
        if (n != self->n_states + 2 || keywords != nullptr) Py_RETURN_NONE;
        return CallSequences(self, args, n);
    } catch (...) {
        TranslateException(self->entry->op->name);
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
        PyErr_Clear();  // Python's own way says more of what is wrong
        Py_RETURN_NONE;
    }
}

PyObject* IsUsual(PyObject* o, PyObject* link) {
    try {
        const Ref dict = Check(PyObject_GenericGetDict(link, nullptr));
        const bool is_usual =
            HasUsualMethods(reinterpret_cast<SequencesObject*>(o), link, dict.get());
        return PyBool_FromLong(is_usual ? 1 : 0);
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    PyTypeObject* cls;
    PyObject* entry;
    PyObject* weights;
    PyObject* biases;
    static const char* names[] = {"cls", "entry", "weights", "biases", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OO!O!:LinkSequences",
                                     const_cast<char**>(names), &PyType_Type, &cls, &entry,
                                     &PyTuple_Type, &weights, &PyTuple_Type, &biases)) {
        return nullptr;
    }
    try {
        if (ToEntry(entry)->n_params != kSequencesParams || !IsNative(ToEntry(entry)->compose)) {
            throw TypeError{"LinkSequences: expected the entry of a function of sequences"};
        }
        Ref o = Check(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<SequencesObject*>(o.get());
        self->vectorcall = &Vectorcall;
        self->entry = reinterpret_cast<EntryObject*>(Py_NewRef(entry));
        self->weights = Py_NewRef(weights);
        self->biases = Py_NewRef(biases);
        self->members = new LinkMembers;
        const Ref n_cells =
            Check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(cls), "n_cells"));
        self->n_states = PyLong_AsSsize_t(n_cells.get());
        if (PyErr_Occurred() != nullptr) throw PythonError{};
        if (self->n_states != 1 && self->n_states != kMostSequenceStates) {
            throw ValueError{"LinkSequences: n_cells is ", self->n_states, ", expected 1 or 2"};
        }
        KeepUsualMethods(self, cls);
        return o.Release();
    } catch (...) {
        TranslateException();
        return nullptr;
    }
}

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<SequencesObject*>(o);
    Py_XDECREF(reinterpret_cast<PyObject*>(self->entry));
    Py_XDECREF(self->weights);
    Py_XDECREF(self->biases);
    delete self->members;
    for (PyObject* method : self->usual) Py_XDECREF(method);
    PyTypeObject* type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
}

PyMethodDef g_methods[] = {
    {"is_usual", &IsUsual, METH_O, "Whether the link computes as its class did at first."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(SequencesObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void InitLinkSequences(PyObject* module) {
    InitSequencesCall();
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_methods, g_methods},
        {Py_tp_members, g_members},
        {Py_tp_doc,
         const_cast<char*>(
             "LinkSequences(cls, entry, weights, biases)\n--\n\nThe call of links of a class over "
             "sequences: with a link, its first states and the sequences. None where the link is "
             "not the usual one. `weights` and `biases` are their names in each child.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.LinkSequences", sizeof(SequencesObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddObjectRef(module, "LinkSequences", type) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine
