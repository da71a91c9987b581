// Protocols of Python and NumPy: repr, conversion to numbers, pickling, __array__.
#include <vector>

#include "chainerx/core/capture_observer.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray_slots.h"

namespace chainerx::python {

namespace {

// A Python bool, int, float or complex.
template <typename T>
PyObject* ToNumber(const char* p) {
    const T v = *reinterpret_cast<const T*>(p);
    if constexpr (std::is_same_v<T, bool>) {
        return PyBool_FromLong(v);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        return PyLong_FromUnsignedLongLong(v);
    } else if constexpr (std::is_integral_v<T>) {
        return PyLong_FromLongLong(v);
    } else if constexpr (kIsComplexType<T>) {
        return PyComplex_FromDoubles(v.real(), v.imag());
    } else {
        return PyFloat_FromDouble(Cast<double>(v));
    }
}

Array OnHost(const Array& x) {
    internal::CheckMayRead("values are read");
    const Array own = internal::Detached(x);
    return x.device().IsHostAccessible() ? own : own.ToNative();
}

// The elements at p along the axes of x from `axis` on: nested lists, or a number.
template <typename T>
PyObject* ToLists(const Array& x, int8_t axis, const char* p) {
    if (axis == x.ndim()) return ToNumber<T>(p);
    const int64_t n = x.shape()[axis];
    const int64_t stride = x.strides()[axis];
    PyObject* list = PyList_New(n);
    if (list == nullptr) return nullptr;
    PyObject_GC_UnTrack(list);  // no one sees it before it is full
    for (int64_t i = 0; i < n; ++i) {
        if (i % 1024 == 0 && (axis != 0 || i != 0) && PyErr_CheckSignals() != 0) {
            Py_DECREF(list);
            return nullptr;
        }
        const char* q = p + i * stride;
        PyObject* item = axis + 1 == x.ndim() ? ToNumber<T>(q) : ToLists<T>(x, axis + 1, q);
        if (item == nullptr) {
            Py_DECREF(list);
            return nullptr;
        }
        PyList_SET_ITEM(list, i, item);
    }
    PyObject_GC_Track(list);
    return list;
}

// Whether there is enough memory for lists of all elements. They allocate it bit by bit, and if the
// system can't provide a touched page, it ends the process.
bool HasMemoryForLists(const Array& x) {
    constexpr int64_t kMaxUncheckedSize = int64_t{1} << 20;
    const int64_t n = x.GetTotalSize();
    if (n <= kMaxUncheckedSize) return true;
    if (n > PY_SSIZE_T_MAX / int64_t{sizeof(PyObject*)}) return false;
    void* const p = PyMem_RawMalloc(static_cast<size_t>(n) * sizeof(PyObject*));
    PyMem_RawFree(p);
    return p != nullptr;
}

}  // namespace

// The one element as a Python number.
PyObject* FromScalar(const Array& x) {
    const Array host = OnHost(x);
    return VisitDtype(x.dtype(), [&]<typename T>() { return ToNumber<T>(host.raw_data()); });
}

namespace {

void CheckSizeOne(const char* op, const Array& x, const char* advice = "") {
    if (x.GetTotalSize() != 1) {
        throw DimensionError{op,
                             ": an array of shape ",
                             x.shape(),
                             " has ",
                             x.GetTotalSize(),
                             " elements, only one with a single element converts to a number",
                             advice};
    }
}

template <PyObject* (*kConvert)(PyObject*)>
PyObject* SlotConvert(PyObject* self) try {
    CheckSizeOne(kConvert == &PyNumber_Long ? "int" : "float", Self(self));
    PyObject* number = FromScalar(Self(self));
    if (number == nullptr) return nullptr;
    PyObject* out = kConvert(number);
    Py_DECREF(number);
    return out;
} catch (...) {
    return Failed();
}

int SlotBool(PyObject* self) try {
    CheckSizeOne("bool", Self(self), "; any() and all() tell of several");
    PyObject* number = FromScalar(Self(self));
    const int truth = number == nullptr ? -1 : PyObject_IsTrue(number);
    Py_XDECREF(number);
    return truth;
} catch (...) {
    TranslateException();
    return -1;
}

PyObject* SlotIndex(PyObject* self) try {
    const Array& x = Self(self);
    if (!IsInt(x.dtype()) || x.ndim() != 0) {
        throw TypeError{"only an integer array of 0 dimensions is an index, this has dtype ",
                        x.dtype(), " and shape ", x.shape()};
    }
    return FromScalar(x);
} catch (...) {
    return Failed();
}

PyObject* SlotRepr(PyObject* self) try {
    const std::string s = Self(self).ToString();
    return PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()));
} catch (...) {
    return Failed();
}

// The index of an element: an integer for each axis, one for the flattened array, or a tuple.
std::vector<ArrayIndex> ToPlace(const Array& x, PyObject* args) {
    Shape given = ToShapeFromArgs("item", "args", args);
    const int64_t size = x.GetTotalSize();
    if (given.ndim() == 1 && x.ndim() != 1) {
        int64_t flat = given[0] < 0 ? given[0] + size : given[0];
        if (flat < 0 || flat >= size) {
            throw IndexError{"item: index ", given[0], " is out of range for ", size, " elements"};
        }
        given.resize(x.ndim());
        for (int8_t i = x.ndim() - 1; i >= 0; --i) {
            given[i] = flat % x.shape()[i];
            flat /= x.shape()[i];
        }
    }
    for (int8_t i = 0; given.ndim() == x.ndim() && i < x.ndim(); ++i) {
        if (given[i] < -x.shape()[i] || given[i] >= x.shape()[i]) {
            throw IndexError{"item: index ", given[i],     " is out of range for axis ",
                             int64_t{i},     " of shape ", x.shape()};
        }
    }
    if (given.ndim() != x.ndim()) {
        throw DimensionError{
            "item: ",          int64_t{given.ndim()}, " indices, expected one, or ",
            int64_t{x.ndim()}, " as of shape ",       x.shape()};
    }
    return {given.begin(), given.end()};
}

CX_METHOD(
    item, "*args: int | tuple[int, ...]) -> bool | int | float | complex",
    "An element as a Python number; without arguments, the only element.\n\n"
    "Args:\n"
    "    *args (int): Its index on each axis, also as a tuple, or in the flattened array.\n"
    "Raises:\n"
    "    DimensionError: If the array has not exactly one element, or another number of axes.\n"
    "    IndexError: If there is no such element.") {
    const Array& x = Self(self);
    if (PyTuple_GET_SIZE(a[0]) == 0) {
        CheckSizeOne("item", x);
        return FromScalar(x);
    }
    return FromScalar(At(x, ToPlace(x, a[0])));
}

CX_METHOD(__complex__, ") -> complex", "The only element as a complex number.") {
    CheckSizeOne("complex", Self(self));
    PyObject* number = FromScalar(Self(self));
    if (number == nullptr || PyComplex_Check(number)) return number;
    const double v = PyFloat_AsDouble(number);
    Py_DECREF(number);
    return PyComplex_FromDoubles(v, 0);
}

CX_METHOD(tolist, ") -> Any", "The values as nested lists of Python numbers.") {
    if (!HasMemoryForLists(Self(self))) return PyErr_NoMemory();
    const Array host = OnHost(Self(self));
    return VisitDtype(host.dtype(),
                      [&]<typename T>() { return ToLists<T>(host, 0, host.raw_data()); });
}

CX_METHOD(__format__, "format_spec: str) -> str",
          "Formats a single-element array as a number; without a specification, any array as "
          "repr() does.") {
    const std::string_view spec = ToString("format", "format_spec", a[0]);
    if (spec.empty()) return SlotRepr(self);
    if (Self(self).GetTotalSize() != 1) {
        throw TypeError{"format: the specification '", spec,
                        "' needs an array of one element, this has shape ", Self(self).shape()};
    }
    PyObject* number = FromScalar(Self(self));
    if (number == nullptr) return nullptr;
    PyObject* text = PyObject_Format(number, a[0]);
    Py_DECREF(number);
    return text;
}

CX_METHOD(__array__, "dtype: DtypeLike | None = None, copy: bool | None = None) -> numpy.ndarray",
          "Called by numpy.asarray(): shares the memory of native arrays unless ``copy`` is set or "
          "``dtype`` differs; other devices' memory is copied.\n\n"
          "Raises:\n"
          "    ValueError: If ``copy`` is False and the host can't read the device's memory.") {
    const bool copy = a[1] == Py_True;
    if (a[1] == Py_False && !Self(self).device().IsHostAccessible()) {
        throw ValueError{"__array__: NumPy can't share the memory of ", Self(self).device().name(),
                         "; leave copy=False away to copy it"};
    }
    if (!Given(a[0])) return ToNumpy(Self(self), copy);
    PyObject* array = ToNumpy(Self(self), false);
    PyObject* keywords = Py_BuildValue("{s:O}", "copy", copy ? Py_True : Py_False);
    PyObject* astype = PyObject_GetAttrString(array, "astype");
    PyObject* args = PyTuple_Pack(1, a[0]);
    PyObject* out = astype == nullptr ? nullptr : PyObject_Call(astype, args, keywords);
    Py_DECREF(args);
    Py_XDECREF(astype);
    Py_DECREF(keywords);
    Py_DECREF(array);
    return out;
}

CX_METHOD(__reduce__, ") -> tuple[Any, ...]",
          "Pickles values, dtype and device; gradients and graph are dropped.") {
    PyObject* module = PyImport_ImportModule("chainerx");
    PyObject* rebuild = module == nullptr ? nullptr : PyObject_GetAttrString(module, "_rebuild");
    Py_XDECREF(module);
    if (rebuild == nullptr) return nullptr;
    const Array& x = Self(self);
    return Py_BuildValue("N(Ns)", rebuild, ToNumpy(x, true), x.device().name().c_str());
}

CX_METHOD(__deepcopy__, "memo: Any) -> ndarray",
          "A copy of the values on the same device; gradients and graph are dropped.") {
    return Wrap(Copy(internal::Detached(Self(self))));
}

CX_METHOD(__copy__, ") -> ndarray", "A copy of the values. Differentiable.") {
    return Wrap(Copy(Self(self)));
}

}  // namespace

void AddProtocolSlots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_nb_bool, reinterpret_cast<void*>(&SlotBool)});
    slots.push_back({Py_nb_int, reinterpret_cast<void*>(&SlotConvert<&PyNumber_Long>)});
    slots.push_back({Py_nb_float, reinterpret_cast<void*>(&SlotConvert<&PyNumber_Float>)});
    slots.push_back({Py_nb_index, reinterpret_cast<void*>(&SlotIndex)});
    slots.push_back({Py_tp_repr, reinterpret_cast<void*>(&SlotRepr)});
}

}  // namespace chainerx::python
