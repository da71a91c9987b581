#include "chainerx/python/capture/dataclass.h"

namespace chainerx::python {
namespace {

// The fields of a dataclass by name; null for other types.
Ref FieldsOf(PyTypeObject* type) {
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0) return Ref{};
    for (PyTypeObject* base = type; base != &PyBaseObject_Type; base = base->tp_base) {
        if (base == nullptr || PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) == 0) return Ref{};
    }
    Ref fields{PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dataclass_fields__")};
    if (!fields) PyErr_Clear();
    return fields && PyDict_Check(fields.get()) ? std::move(fields) : Ref{};
}

bool IsSlot(PyTypeObject* type, PyObject* name) {
    const Ref member{PyObject_GetAttr(reinterpret_cast<PyObject*>(type), name)};
    if (!member) PyErr_Clear();
    return member && Py_TYPE(member.get()) == &PyMemberDescr_Type;
}

}  // namespace

std::optional<Attributes> AttributesOf(PyObject* o) {
    PyTypeObject* type = Py_TYPE(o);
    const Ref fields = FieldsOf(type);
    if (!fields) return std::nullopt;
    Attributes all;
    const Ref names = Check(PyDict_Keys(fields.get()));
    const Items items{names.get()};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (!IsSlot(type, items[i])) continue;
        Ref value{PyObject_GenericGetAttr(o, items[i])};
        if (!value) {  // it is not set
            PyErr_Clear();
            continue;
        }
        all.emplace_back(Py_NewRef(items[i]), std::move(value));
    }
    for (auto& [name, value] : AttributesOfDict(o)) {
        const int is_field = PyDict_Contains(fields.get(), name.get());
        if (is_field < 0) throw PythonError{};
        if (is_field == 0 && type->tp_hash == PyBaseObject_Type.tp_hash) return std::nullopt;
        all.emplace_back(std::move(name), std::move(value));
    }
    return all;
}

Attributes AttributesOfDict(PyObject* o) {
    Attributes all;
    const Ref dict{PyObject_GenericGetDict(o, nullptr)};
    if (!dict) PyErr_Clear();
    if (!dict) return all;
    PyObject* name;
    PyObject* value;
    for (Py_ssize_t i = 0; PyDict_Next(dict.get(), &i, &name, &value) != 0;) {
        all.emplace_back(Py_NewRef(name), Py_NewRef(value));
    }
    return all;
}

PyObject* NewWithAttributes(PyTypeObject* type, const Attributes& attributes) {
    const Ref none = Check(PyTuple_New(0));
    Ref o = Check(PyBaseObject_Type.tp_new(type, none.get(), nullptr));
    SetAttributes(o.get(), attributes);
    return o.Release();
}

void SetAttributes(PyObject* o, const Attributes& attributes) {
    for (const auto& [name, value] : attributes) {
        if (PyObject_GenericSetAttr(o, name.get(), value.get()) < 0) throw PythonError{};
    }
}

}  // namespace chainerx::python
