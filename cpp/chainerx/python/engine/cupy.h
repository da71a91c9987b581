// CuPy arrays share memory with chainerx arrays of the backend cuda.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// cupy.ndarray; null if chainer found no working CuPy.
extern PyTypeObject* g_cupy_ndarray;

inline bool IsCupy(PyObject* o) {
    return g_cupy_ndarray != nullptr && PyObject_TypeCheck(o, g_cupy_ndarray);
}

// A chainerx array over the memory of a CuPy array, on the device of the same number. BackendError
// if the backend can't be loaded; TypeError if chainerx can't hold the array.
Array FromCupy(const char* op, PyObject* array);

// A CuPy array over the memory of an array of the backend cuda. New reference.
PyObject* ToCupy(const Array& x);

void InitCupy(PyObject* module);

}  // namespace chainerx::python::engine
