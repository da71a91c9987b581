// len(), iteration, x[...] and x[...] = v.
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ndarray_slots.h"

namespace chainerx::python {
namespace {

Py_ssize_t Length(PyObject* o) {
    const Array& x = Self(o);
    if (x.ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of a 0-dimensional chainerx.ndarray");
        return -1;
    }
    return x.shape()[0];
}

}  // namespace

void AddSequenceSlots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_mp_length, reinterpret_cast<void*>(&Length)});
}

}  // namespace chainerx::python
