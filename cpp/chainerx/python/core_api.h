// What _core offers to the other extension modules of the package, which share no symbols with it:
// a capsule of this name that points to a CoreApi.
#pragma once

#include "chainerx/core/device.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {

inline constexpr const char* kCoreApiName = "chainerx._core._api";

struct CoreApi {
    PyTypeObject* ndarray_type;
    PyObject* (*wrap)(Array array);
    PyObject* (*from_device)(Device& device);
    Device* (*as_device)(PyObject* o);
    // Sets the Python exception for the C++ exception that is being handled.
    void (*translate_exception)(const char* op) noexcept;
};

}  // namespace chainerx::python
