// The Python type chainerx.ndarray.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

struct NdArray {
    PyObject_HEAD internal::ArrayBody* body;  // a strong handle
    PyObject* weakrefs;
    bool tracked;  // by the collector of cycles
};

extern PyTypeObject* g_ndarray_type;

inline bool IsNdArray(PyObject* o) { return Py_TYPE(o) == g_ndarray_type; }

// The array of an object that is known to be an ndarray. A handle is one pointer, so the object's
// own field serves as one.
inline const Array& Self(PyObject* o) {
    return *reinterpret_cast<const Array*>(&reinterpret_cast<NdArray*>(o)->body);
}

// A new reference to the one Python object of the array.
PyObject* Wrap(Array array);

// Has the collector of cycles look at the object. Wrap() does for arrays that were computed from
// those of users' functions, which may be part of cycles; others are not worth its time.
void Track(PyObject* ndarray);

// Visits what the graph of an array keeps alive; of the layer above, which knows.
using VisitGraphFn = int (*)(const void* owner, const internal::ArrayBody* body, visitproc visit,
                             void* arg);
extern VisitGraphFn g_visit_graph;

// A new dict from attribute names to their annotations, for the stub.
PyObject* AttributeTypes();

void InitNdArray(PyObject* module);

}  // namespace chainerx::python
