// What x[key] stands for.
#pragma once

#include <vector>

#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// The items of a key, arrays on `device`. IndexError for what is no index.
std::vector<IndexItem> ToItems(PyObject* key, Device& device);
// x[key]: a view, unless there are arrays in the key.
Array Subscript(const Array& x, PyObject* key);

}  // namespace chainerx::python
