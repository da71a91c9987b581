// Conversions between chainerx dtypes and numpy.dtype. bfloat16 is the dtype of the package
// ml_dtypes.
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

std::optional<Dtype> FromName(std::string_view name) {
    for (int i = 0; i < kNumDtypes; ++i) {
        const auto d = static_cast<Dtype>(i);
        if (name == GetDtypeName(d)) return d;
    }
    return std::nullopt;
}

// The name of a numpy.dtype, which does not depend on its byte order.
std::string NameOf(PyObject* dtype) {
    const Ref name = Check(PyObject_GetAttrString(dtype, "name"));
    const char* text = PyUnicode_AsUTF8(name.get());
    if (text == nullptr) throw PythonError{};
    return text;
}

Dtype FromNumpyDtype(PyObject* o) {
    for (int i = 0; i < kNumDtypes; ++i) {
        // Builtin dtypes of NumPy are singletons.
        if (g_dtypes[i] == o) return static_cast<Dtype>(i);
    }
    const std::string name = NameOf(o);
    const std::optional<Dtype> found = FromName(name);
    if (!found) throw DtypeError{"unsupported dtype: ", name};
    const Ref native = Check(PyObject_GetAttrString(o, "isnative"));
    if (native.get() != Py_True) {
        throw DtypeError{"unsupported dtype: ", name,
                         " of swapped byte order; arrays are in the order of the machine, '", name,
                         "'"};
    }
    return *found;
}

// Accepts all that NumPy accepts: 'f4', '<f8', 'double', ctypes, objects with an attribute dtype.
Dtype FromSpelling(PyObject* o) {
    const Ref d{PyObject_CallOneArg(reinterpret_cast<PyObject*>(Numpy().dtype), o)};
    if (d.get() != nullptr) return FromNumpyDtype(d.get());
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};
    PyErr_Clear();
    if (PyUnicode_Check(o)) {
        throw DtypeError{"unknown dtype name: '", ToString("dtype", "dtype", o), "'"};
    }
    throw TypeError{"dtype must be a dtype, a type or a name, got ",
                    PyType_Check(o) ? "the type " : "",
                    (PyType_Check(o) ? reinterpret_cast<PyTypeObject*>(o) : Py_TYPE(o))->tp_name};
}

}  // namespace

constinit NumpyTypes g_numpy{};

void InitNumpy() {
    const auto type = [](const char* name) {
        return reinterpret_cast<PyTypeObject*>(Import("numpy", name));
    };
    g_numpy = {.module = Import("numpy", nullptr),
               .ndarray = type("ndarray"),
               .generic = type("generic"),
               .bool_ = type("bool_"),
               .dtype = type("dtype")};
}

PyObject* FromDtype(Dtype dtype) { return Py_NewRef(NumpyDtype(dtype)); }

Dtype ToDtype(PyObject* o) {
    if (PyObject_TypeCheck(o, Numpy().dtype)) return FromNumpyDtype(o);
    if (PyUnicode_Check(o)) {
        const std::string_view name = ToString("dtype", "dtype", o);
        if (const std::optional<Dtype> d = FromName(name)) return *d;
        if (name == "E")
            return Dtype::kBFloat16;  // the code in ml_dtypes, which NumPy can't look up
        return FromSpelling(o);
    }
    if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return Dtype::kBool;
    if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return Dtype::kInt64;
    if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return Dtype::kFloat64;
    if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return Dtype::kComplex128;
    // NumPy would return its default dtype, which differs from the one here.
    if (o == Py_None) throw TypeError{"dtype must be a dtype, a type or a name, got NoneType"};
    return FromSpelling(o);
}

Dtype DtypeOfData(PyObject* numpy_dtype) {
    if (const std::optional<Dtype> d = FromName(NameOf(numpy_dtype))) return *d;
    return FromNumpyDtype(numpy_dtype);
}

Dtype ToDtypeOr(PyObject* o, Dtype fallback) { return Given(o) ? ToDtype(o) : fallback; }

}  // namespace chainerx::python
