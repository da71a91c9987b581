// The parameter `order`, as NumPy has it.
#pragma once

#include "chainerx/ops/shape/view.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// 'C', 'F', 'A' or 'K'; C for null.
ElementOrder ToElementOrder(const char* op, PyObject* o);

// The array in this order in memory, or as it is for null and None.
Array InOrder(const char* op, const Array& x, PyObject* order);
// A copy, in C order for null and None.
Array CopyInOrder(const Array& x, PyObject* order);

}  // namespace chainerx::python
