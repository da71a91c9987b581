// What is written into an array, or put beside its elements: arrays, numbers, lists.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// An ndarray itself; a number as an array of the dtype of `x` and shape (); a list or tuple as one
// of its own dtype, and where the host can read the device, a NumPy array, too: nothing goes to
// another device unasked. DtypeError for a number whose kind is above that of x, OverflowError for
// one that its dtype does not hold.
Array ToValues(const char* op, const char* name, const Array& x, PyObject* o);

// A tuple of the arrays.
PyObject* WrapTuple(const std::vector<Array>& arrays);

}  // namespace chainerx::python
