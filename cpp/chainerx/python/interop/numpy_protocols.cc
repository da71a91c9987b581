// The protocols by which NumPy's functions dispatch to the library of an array. They are
// implemented in Python (chainerx/_numpy_protocols.py), since they look functions up by name.
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(_set_protocols, "array_ufunc: Any, array_function: Any) -> None",
           "Adds NumPy's protocol methods to the type of arrays.") {
    PyObject* dict = g_ndarray_type->tp_dict;
    if (PyDict_SetItemString(dict, "__array_ufunc__", a[0]) < 0 ||
        PyDict_SetItemString(dict, "__array_function__", a[1]) < 0) {
        throw PythonError{};
    }
    PyType_Modified(g_ndarray_type);
    Py_RETURN_NONE;
}

}  // namespace
}  // namespace chainerx::python
