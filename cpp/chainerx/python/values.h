// Converts values that are assigned to an array or combined with its elements: arrays, numbers,
// lists.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// An ndarray itself; a number as an array of the dtype of `x` and shape (); a list or tuple as an
// array with its own dtype. A NumPy array is accepted if the host can read the device: no data is
// copied to another device implicitly. DtypeError for a number whose kind is above that of x,
// OverflowError for one that its dtype can't represent.
Array ToValues(const char* op, const char* name, const Array& x, PyObject* o);

// A tuple of the arrays.
PyObject* WrapTuple(const std::vector<Array>& arrays);

}  // namespace chainerx::python
