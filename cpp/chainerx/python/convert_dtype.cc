// Between chainerx dtypes and numpy.dtype. bfloat16 is the one of the package ml_dtypes.
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

PyObject* g_dtypes[kNumDtypes];

PyObject* Import(const char* module, const char* name) {
    PyObject* m = PyImport_ImportModule(module);
    if (m == nullptr) throw PythonError{};
    PyObject* o = name == nullptr ? Py_NewRef(m) : PyObject_GetAttrString(m, name);
    Py_DECREF(m);
    if (o == nullptr) throw PythonError{};
    return o;
}

// Borrowed.
PyObject* NumpyDtype(Dtype dtype) {
    PyObject*& cached = g_dtypes[static_cast<int>(dtype)];
    if (cached == nullptr) {
        PyObject* spec = dtype == Dtype::kBFloat16 ? Import("ml_dtypes", "bfloat16")
                                                   : PyUnicode_FromString(GetDtypeName(dtype));
        cached = PyObject_CallOneArg(reinterpret_cast<PyObject*>(Numpy().dtype), spec);
        Py_DECREF(spec);
        if (cached == nullptr) throw PythonError{};
    }
    return cached;
}

Dtype FromNumpyDtype(PyObject* o) {
    for (int i = 0; i < kNumDtypes; ++i) {
        if (g_dtypes[i] == o) return static_cast<Dtype>(i);  // NumPy's own are singletons
    }
    PyObject* name = PyObject_GetAttrString(o, "name");
    if (name == nullptr) throw PythonError{};
    const char* text = PyUnicode_AsUTF8(name);
    std::optional<Dtype> found;
    for (int i = 0; text != nullptr && i < kNumDtypes; ++i) {
        const auto d = static_cast<Dtype>(i);
        if (std::string_view{text} == GetDtypeName(d)) found = d;
    }
    const std::string shown = text != nullptr ? text : "?";
    Py_DECREF(name);
    if (!found) throw DtypeError{"unsupported dtype: ", shown};
    return *found;
}

}  // namespace

const NumpyTypes& Numpy() {
    static const NumpyTypes types = [] {
        NumpyTypes t;
        t.module = Import("numpy", nullptr);
        const auto type = [](const char* name) {
            return reinterpret_cast<PyTypeObject*>(Import("numpy", name));
        };
        t.ndarray = type("ndarray");
        t.generic = type("generic");
        t.dtype = type("dtype");
        return t;
    }();
    return types;
}

PyObject* FromDtype(Dtype dtype) { return Py_NewRef(NumpyDtype(dtype)); }

Dtype ToDtype(PyObject* o) {
    if (PyObject_TypeCheck(o, Numpy().dtype)) return FromNumpyDtype(o);
    if (PyUnicode_Check(o)) return GetDtype(ToString("dtype", "dtype", o));
    if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return Dtype::kBool;
    if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return Dtype::kInt64;
    if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return Dtype::kFloat64;
    if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return Dtype::kComplex128;
    if (PyType_Check(o) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), Numpy().generic)) {
        PyObject* d = PyObject_CallOneArg(reinterpret_cast<PyObject*>(Numpy().dtype), o);
        if (d == nullptr) throw PythonError{};
        struct Release {
            PyObject* o;
            ~Release() { Py_DECREF(o); }
        } release{d};
        return FromNumpyDtype(d);
    }
    throw TypeError{"dtype must be a dtype, a type or a name, got ", Py_TYPE(o)->tp_name};
}

Dtype ToDtypeOr(PyObject* o, Dtype fallback) { return Given(o) ? ToDtype(o) : fallback; }

}  // namespace chainerx::python
