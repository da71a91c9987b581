// Lists in lists of arrays, whose gradients NumPy would leave behind.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// What NumPy has made of `o`, `values`; where lists or tuples hold arrays in a graph, as a stack of
// these arrays.
Array WithGraphs(PyObject* o, const Array& values);

}  // namespace chainerx::python
