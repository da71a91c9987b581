// x.at and x.flat, objects to be indexed: chainerx._core._At and _Flat.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

PyObject* WrapAt(const Array& x);
void InitAt(PyObject* module);

// Defined in ndarray_flat.cc.
PyObject* WrapFlat(const Array& x);
// Implements x.flat = values.
void AssignFlat(const Array& x, PyObject* values);
void InitFlat(PyObject* module);

}  // namespace chainerx::python
