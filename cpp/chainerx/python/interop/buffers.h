// Arrays over the memory of any buffer.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// `count` elements of a C-contiguous buffer from a byte on, all that are left for a negative count:
// over its memory, or a copy where that can't be. Defined in convert_numpy.cc.
Array FromBuffer(PyObject* o, Dtype dtype, int64_t count, int64_t offset, Device& device);

}  // namespace chainerx::python
