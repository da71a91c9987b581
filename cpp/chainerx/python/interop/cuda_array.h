// Arrays through __cuda_array_interface__, the protocol of Numba and CuPy for memory of GPUs.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// Whether an object other than our own has it. Plain numbers, lists and NumPy arrays are not asked.
bool HasCudaArrayInterface(PyObject* o);

// Shares the memory; what is queued from now on runs after the work of the stream that it names.
Array FromCudaArrayInterface(PyObject* o);

// A new dict, or null with AttributeError.
PyObject* CudaArrayInterface(const Array& x);

}  // namespace chainerx::python
