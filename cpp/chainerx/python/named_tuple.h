// Named tuples for results of several arrays, as in NumPy.
#pragma once

#include <initializer_list>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// A type of named tuple; a constant of a file. `fields`, pairs of name and docstring, end with a
// null.
class NamedTuple {
 public:
    // `name` begins with that of the module that contains the type, for pickle.
    NamedTuple(const char* name, const char* doc, PyStructSequence_Field* fields);

    // One item per field.
    PyObject* Make(std::initializer_list<PyObject*> items);
    PyObject* Make(std::initializer_list<Array> arrays);

 private:
    friend void InitNamedTuples(PyObject* module);
    void Init(PyObject* module);

    const char* name_;
    const char* doc_;
    PyStructSequence_Field* fields_;
    PyTypeObject* type_{nullptr};
    NamedTuple* next_;  // in the list of all types
};

// Adds all types to the modules in their names: the module itself, or one of its submodules.
void InitNamedTuples(PyObject* module);

}  // namespace chainerx::python
