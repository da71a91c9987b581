// What the types that are written by CPython's API have in common.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

// Makes a type, and adds it to the module by the last part of its name, together with functions.
inline PyTypeObject* AddType(PyObject* module, PyType_Spec& spec,
                             PyMethodDef* functions = nullptr) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (type == nullptr || PyModule_AddType(module, type) < 0 ||
        (functions != nullptr && PyModule_AddFunctions(module, functions) < 0)) {
        throw PythonError{};
    }
    return type;
}

// The end of tp_dealloc: frees an instance whose members are released, and its reference to the
// type.
inline void FreeInstance(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

}  // namespace chainerx::python
