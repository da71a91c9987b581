// The parameter `order`, with NumPy's semantics.
#pragma once

#include "chainerx/ops/shape/view.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// Parses 'C', 'F', 'A' or 'K'; C for null.
ElementOrder ToElementOrder(const char* op, PyObject* o);

// The array in this memory order; unchanged for null and None.
Array InOrder(const char* op, const Array& x, PyObject* order);
// A copy, in C order for null and None.
Array CopyInOrder(const Array& x, PyObject* order);

}  // namespace chainerx::python
