// Nested lists of arrays, whose gradients NumPy would drop.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// `values` is NumPy's conversion of `o`. Lists or tuples that hold arrays in a graph are stacked
// instead, to keep their gradients.
Array WithGraphs(PyObject* o, const Array& values);

}  // namespace chainerx::python
