// The Python type chainerx.ndarray.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

struct NdArray {
    PyObject_HEAD internal::ArrayBody* body;  // a strong handle
    PyObject* weakrefs;
    bool tracked;  // by the cycle collector
};

extern PyTypeObject* g_ndarray_type;

inline bool IsNdArray(PyObject* o) { return Py_TYPE(o) == g_ndarray_type; }

// The array of an object that must be an ndarray. A handle is one pointer, and so the object's own
// field is used as one.
inline const Array& Self(PyObject* o) {
    return *reinterpret_cast<const Array*>(&reinterpret_cast<NdArray*>(o)->body);
}

// A new reference to the one Python object of the array.
PyObject* Wrap(Array array);

// Makes the cycle collector track the object. Wrap() does so for arrays computed from results of
// user functions, which may be part of cycles; tracking others would cost time without benefit.
void Track(PyObject* ndarray);

// Visits the objects that the graph of an array keeps alive. The engine, a floor above, sets it.
using VisitGraphFn = int (*)(const void* owner, const internal::ArrayBody* body, visitproc visit,
                             void* arg);
extern VisitGraphFn g_visit_graph;

// A new dict from attribute names to their annotations, for the stub.
PyObject* AttributeTypes();

void InitNdArray(PyObject* module);

}  // namespace chainerx::python
