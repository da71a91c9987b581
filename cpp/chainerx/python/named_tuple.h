// Results of several arrays that have names, as NumPy's have: tuples with attributes.
#pragma once

#include <initializer_list>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// A kind of them; a constant of a file. `fields`, names and what they are, end with a null.
class NamedTuple {
 public:
    // `name` begins with that of the module where the type is found, for pickle.
    NamedTuple(const char* name, const char* doc, PyStructSequence_Field* fields);

    // As many as there are fields.
    PyObject* Make(std::initializer_list<PyObject*> items);
    PyObject* Make(std::initializer_list<Array> arrays);

 private:
    friend void InitNamedTuples(PyObject* module);
    void Init(PyObject* module);

    const char* name_;
    const char* doc_;
    PyStructSequence_Field* fields_;
    PyTypeObject* type_{nullptr};
    NamedTuple* next_;  // of all
};

// Puts the types of all where their names say: into the module, or one of its submodules.
void InitNamedTuples(PyObject* module);

}  // namespace chainerx::python
