#include "chainerx/python/values.h"

#include <optional>
#include <span>

#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/nested.h"

namespace chainerx::python {

namespace {

// The values of a list or tuple of floats, equal to NumPy's conversion, but faster; nullopt if it
// contains another object, or is long.
std::optional<Array> TryFloats(PyObject* o, Device& device) {
    constexpr Py_ssize_t kMaxCount = 64;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (n == 0 || n > kMaxCount) return std::nullopt;
    double values[kMaxCount];
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* const item = PySequence_Fast_GET_ITEM(o, i);
        if (!PyFloat_CheckExact(item)) return std::nullopt;
        values[i] = PyFloat_AS_DOUBLE(item);
    }
    return Array::FromHost(std::span{values, static_cast<size_t>(n)}, {n}, device);
}

}  // namespace

Array ToValues(const char* op, const char* name, const Array& x, PyObject* o) {
    if (IsNdArray(o)) return Self(o);
    if (const std::optional<Scalar> s = TryScalar(o)) {
        internal::CheckScalarFits(op, x.dtype(), *s);
        return Full({}, *s, x.dtype(), x.device());
    }
    if (!PyList_Check(o) && !PyTuple_Check(o) && !PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op, ": ", name, " must be a number or an array, got ", Py_TYPE(o)->tp_name};
    }
    if (PyList_Check(o) || PyTuple_Check(o)) {
        if (const std::optional<Array> floats = TryFloats(o, x.device())) return *floats;
    }
    const bool is_numpy = PyObject_TypeCheck(o, Numpy().ndarray);
    if (is_numpy && !x.device().IsHostAccessible()) {
        throw TypeError{op,
                        ": the array is on ",
                        x.device().name(),
                        ", ",
                        name,
                        " on the host; convert it with chainerx.array(x, device='",
                        x.device().name(),
                        "')"};
    }
    return WithGraphs(o, FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, x.device()));
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
