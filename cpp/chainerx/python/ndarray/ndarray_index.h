// Parses the key of x[key].
#pragma once

#include <vector>

#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// The items of a key, with arrays on `device`. IndexError for an invalid index.
std::vector<IndexItem> ToItems(PyObject* key, Device& device);
// x[key]: a view, unless the key contains arrays.
Array Subscript(const Array& x, PyObject* key);

}  // namespace chainerx::python
