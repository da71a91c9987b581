#include "chainerx/python/values.h"

#include "chainerx/core/error.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {

Array ToValues(const char* op, const char* name, const Array& x, PyObject* o) {
    if (IsNdArray(o)) return Self(o);
    if (const std::optional<Scalar> s = TryScalar(o)) {
        internal::CheckScalarFits(op, x.dtype(), *s);
        return Full({}, *s, x.dtype(), x.device());
    }
    if (!PyList_Check(o) && !PyTuple_Check(o) && !PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op, ": ", name, " must be a number or an array, got ", Py_TYPE(o)->tp_name};
    }
    const bool is_numpy = PyObject_TypeCheck(o, Numpy().ndarray);
    if (is_numpy && !x.device().IsHostAccessible()) {
        throw TypeError{op,
                        ": the array is on ",
                        x.device().name(),
                        ", ",
                        name,
                        " on the host; convert it with chainerx.array()"};
    }
    return FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, x.device());
}

PyObject* WrapTuple(const std::vector<Array>& arrays) {
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(arrays.size()));
    if (tuple == nullptr) throw PythonError{};
    for (size_t i = 0; i < arrays.size(); ++i) {
        PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Wrap(arrays[i]));
    }
    return tuple;
}

}  // namespace chainerx::python
