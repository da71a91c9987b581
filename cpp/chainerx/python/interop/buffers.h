// Makes arrays over the memory of any buffer.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// `count` elements of a C-contiguous buffer from a byte offset on, all remaining ones for a
// negative count: shares its memory, or copies if sharing is impossible. Defined in
// convert_numpy.cc.
Array FromBuffer(PyObject* o, Dtype dtype, int64_t count, int64_t offset, Device& device);

// Tells captured steps how to find out that NumPy has moved memory. Defined there, too.
void InitNumpyMemory();

}  // namespace chainerx::python
