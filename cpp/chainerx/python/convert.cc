#include "chainerx/python/convert.h"

#include <cmath>
#include <complex>
#include <limits>

#include "chainerx/core/axis_error.h"
#include "chainerx/core/context.h"

namespace chainerx::python {

const char* TypeName(PyObject* o) { return Py_TYPE(o)->tp_name; }

void ThrowNotArray(const char* op, const char* name, PyObject* o) {
    // Of the type, since properties of the object would run code of the program.
    const bool is_variable =
        PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "creator") != 0;
    throw TypeError{op,
                    ": ",
                    name,
                    " must be a chainerx.ndarray, got ",
                    TypeName(o),
                    is_variable ? "; pass its array, or call the function of chainer.functions"
                                : "; make one with chainerx.array()"};
}

// Truncated, since an integer may have any number of digits.
static std::string Repr(PyObject* o) {
    PyObject* text = PyObject_Repr(o);
    const char* utf8 = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
    const std::string s = utf8 != nullptr ? utf8 : "an integer";
    Py_XDECREF(text);
    PyErr_Clear();
    return s.size() <= 40 ? s : s.substr(0, 37) + "...";
}

std::optional<Scalar> TryScalar(PyObject* o) {
    if (PyFloat_Check(o)) return Scalar{PyFloat_AS_DOUBLE(o)};
    if (o == Py_True) return Scalar{true};
    if (o == Py_False) return Scalar{false};
    if (PyLong_Check(o)) {
        int overflow = 0;
        const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow == 0) return Scalar{static_cast<int64_t>(v)};
        if (overflow > 0) {
            const unsigned long long u = PyLong_AsUnsignedLongLong(o);
            if (!PyErr_Occurred()) return Scalar{static_cast<uint64_t>(u)};
            PyErr_Clear();
        }
        const double value = PyLong_AsDouble(o);
        if (!PyErr_Occurred()) return Scalar::HugeInt(value);
        PyErr_Clear();
        return Scalar::HugeInt(overflow * std::numeric_limits<double>::infinity());
    }
    if (PyComplex_Check(o)) {
        const Py_complex c = PyComplex_AsCComplex(o);
        return Scalar{std::complex<double>{c.real, c.imag}};
    }
    if (PyObject_TypeCheck(o, Numpy().generic)) {
        PyObject* item = PyObject_CallMethod(o, "item", nullptr);
        if (item == nullptr) throw PythonError{};
        std::optional<Scalar> s;
        if (!PyObject_TypeCheck(item, Numpy().generic)) s = TryScalar(item);
        Py_DECREF(item);
        return s;
    }
    return std::nullopt;
}

Scalar ToScalar(const char* op, const char* name, PyObject* o) {
    const Scalar s = ToOperand(op, name, o);
    if (s.IsHugeInt()) {
        throw OverflowError{op, ": ", name, " is ", Repr(o), ", which does not fit in 64 bits"};
    }
    return s;
}

Scalar ToElement(const char* op, const char* name, PyObject* o, Dtype dtype) {
    const Scalar s = ToOperand(op, name, o);
    if (!s.IsHugeInt()) return s;
    const bool is_number = IsFloat(dtype) || IsComplex(dtype);
    return is_number && std::isfinite(s.To<double>()) ? Scalar{s.To<double>()}
                                                      : ToScalar(op, name, o);
}

Scalar ToOperand(const char* op, const char* name, PyObject* o) {
    if (const std::optional<Scalar> s = TryScalar(o)) return *s;
    throw TypeError{op, ": ", name, " must be a number, got ", TypeName(o)};
}

namespace {

// The result of __index__.
CX_COLD Ref ToIndex(const char* op, const char* name, PyObject* o) {
    Ref index{PyNumber_Index(o)};
    if (!index) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{};
        PyErr_Clear();
        throw TypeError{op, ": ", name, " must be an integer, got ", TypeName(o)};
    }
    return index;
}

CX_COLD int64_t ToIntSlow(const char* op, const char* name, PyObject* o) {
    const Ref index = ToIndex(op, name, o);
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
    if (overflow != 0) {
        throw DimensionError{op, ": ", name, " is ", Repr(o), ", which does not fit in 64 bits"};
    }
    return v;
}

}  // namespace

int64_t ToInt(const char* op, const char* name, PyObject* o) {
    if (PyLong_CheckExact(o)) [[likely]] {
        int overflow = 0;
        const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow == 0) return v;
    }
    return ToIntSlow(op, name, o);
}

int64_t ToIntNotBool(const char* op, const char* name, PyObject* o) {
    if (PyLong_CheckExact(o)) [[likely]]
        return ToInt(op, name, o);
    if (PyBool_Check(o)) throw TypeError{op, ": ", name, " must be an integer, got bool"};
    return ToIntSlow(op, name, o);
}

Scalar ToWideInt(const char* op, const char* name, PyObject* o, long less) {
    const Ref subtrahend = Check(PyLong_FromLong(less));
    const Ref x = Check(PyNumber_Subtract(ToIndex(op, name, o).get(), subtrahend.get()));
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(x.get(), &overflow);
    if (overflow == 0) return value;
    if (overflow > 0) {
        const uint64_t large = PyLong_AsUnsignedLongLong(x.get());
        if (PyErr_Occurred() == nullptr) return large;
        PyErr_Clear();
    }
    throw ValueError{op, ": ", name, " is ", Repr(o), ", beyond what any integer dtype holds"};
}

int64_t ToDiagonal(const char* op, const char* name, PyObject* o) {
    if (o == nullptr) return 0;
    int overflow = 0;
    const int64_t k = PyLong_AsLongLongAndOverflow(ToIndex(op, name, o).get(), &overflow);
    if (overflow == 0) return k;
    return overflow > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

uint64_t ToUint64(const char* op, const char* name, PyObject* o) {
    const Ref index = ToIndex(op, name, o);
    const uint64_t value = PyLong_AsUnsignedLongLong(index.get());
    if (value == ~uint64_t{0} && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw ValueError{op, ": ", name, " is ", Repr(index.get()), ", expected 0 to 2**64 - 1"};
    }
    return value;
}

std::optional<uint64_t> ToKey(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToUint64(op, name, o);
}

double ToDouble(const char* op, const char* name, PyObject* o) {
    const Scalar s = ToOperand(op, name, o);
    if (s.kind() == DtypeKind::kComplex) {
        throw TypeError{op, ": ", name, " must be a real number, got ", TypeName(o)};
    }
    if (!s.IsHugeInt()) return s.To<double>();
    const double value = PyLong_AsDouble(o);
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw OverflowError{op, ": ", name, " is an integer that no float holds"};
    }
    return value;
}

bool ToBool(PyObject* o, bool fallback) {
    if (o == nullptr) return fallback;
    const int truth = PyObject_IsTrue(o);
    if (truth < 0) throw PythonError{};
    return truth != 0;
}

std::string_view ToString(const char* op, const char* name, PyObject* o) {
    if (!PyUnicode_Check(o)) {
        throw TypeError{op, ": ", name, " must be a str, got ", TypeName(o)};
    }
    Py_ssize_t n;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (s == nullptr) throw PythonError{};
    return {s, static_cast<size_t>(n)};
}

Ref TrySequence(PyObject* o) {
    if (PyTuple_Check(o) || PyList_Check(o)) return Ref{Py_NewRef(o)};
    if (PyUnicode_Check(o) || PyBytes_Check(o) || !PySequence_Check(o) || IsNdArray(o)) return {};
    Ref sequence{PySequence_Fast(o, "")};
    if (!sequence) {
        // A NumPy array without dimensions fails, although its type is that of sequences.
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError{};
        PyErr_Clear();
    }
    return sequence;
}

namespace {

// Calls f on each integer of a sequence; false if `o` is not one.
template <auto kConvert = &ToIntNotBool, typename F>
bool ForEachInt(const char* op, const char* name, PyObject* o, F&& f) {
    const Ref sequence = TrySequence(o);
    if (!sequence) return false;
    const Items items{sequence.get()};
    for (Py_ssize_t i = 0; i < items.size(); ++i) f(kConvert(op, name, items[i]));
    return true;
}

}  // namespace

Shape ToShape(const char* op, const char* name, PyObject* o) {
    Shape shape;
    if (!ForEachInt(op, name, o, [&](int64_t d) { shape.push_back(d); })) {
        shape.push_back(ToIntNotBool(op, name, o));
    }
    return shape;
}

std::optional<std::vector<int64_t>> TryInts(const char* op, const char* name, PyObject* o) {
    Ref list;
    if (IsNdArray(o) || PyObject_TypeCheck(o, Numpy().ndarray)) {
        // Checked before the conversion to lists, which may be many.
        const Ref ndim = Check(PyObject_GetAttrString(o, "ndim"));
        if (const int64_t n = ToInt(op, name, ndim.get()); n > 1) {
            throw TypeError{op, ": ", name, " must be integers in at most one dimension, got ", n};
        }
        list = Check(PyObject_CallMethod(o, "tolist", nullptr));
        if (!PyList_Check(list.get())) return std::nullopt;  // an array without dimensions
        o = list.get();
    }
    std::vector<int64_t> values;
    if (!ForEachInt<&ToInt>(op, name, o, [&](int64_t v) { values.push_back(v); })) {
        return std::nullopt;
    }
    return values;
}

Shape ToShapeFromArgs(const char* op, const char* name, PyObject* tuple) {
    if (PyTuple_GET_SIZE(tuple) == 1) return ToShape(op, name, PyTuple_GET_ITEM(tuple, 0));
    return ToShape(op, name, tuple);
}

int8_t ToAxis(const char* op, const char* name, PyObject* o) {
    const int64_t a = ToIntNotBool(op, name, o);
    // Out of range for any rank; the message must name the original number.
    if (a < INT8_MIN || a > INT8_MAX) {
        throw AxisError{op, ": ", name, " ", a, " is out of range"};
    }
    return static_cast<int8_t>(a);
}

std::optional<int8_t> ToOptionalAxis(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToAxis(op, name, o);
}

OptionalAxes ToAxes(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    Axes axes;
    const auto add = [&](int64_t a) {
        if (a < INT8_MIN || a > INT8_MAX) {
            throw AxisError{op, ": ", name, " ", a, " is out of range"};
        }
        axes.push_back(static_cast<int8_t>(a));
    };
    if (!ForEachInt(op, name, o, add)) axes.push_back(ToAxis(op, name, o));
    return axes;
}

namespace {

// `what` names the expected elements in the error; an empty list gets `dtype`.
Array ToArrayOf(const char* op, const char* name, const char* what, Dtype dtype, PyObject* o,
                Device& device) {
    if (IsNdArray(o)) return Self(o);
    if (!PyList_Check(o) && !PyTuple_Check(o) && !PyLong_Check(o) &&
        !PyObject_TypeCheck(o, Numpy().ndarray) && !PyObject_TypeCheck(o, Numpy().generic)) {
        throw TypeError{op,         ": ", name, " must be ", what, " or an array of them, got ",
                        TypeName(o)};
    }
    const Array x = FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, device);
    if (x.GetTotalSize() == 0 && !PyObject_TypeCheck(o, Numpy().ndarray)) {
        return Empty(x.shape(), dtype, device);
    }
    return x;
}

}  // namespace

Array ToIndices(const char* op, const char* name, PyObject* o, Device& device) {
    return ToArrayOf(op, name, "integers", Dtype::kInt64, o, device);
}

Array ToCondition(const char* op, const char* name, PyObject* o, Device& device) {
    return ToArrayOf(op, name, "conditions", Dtype::kBool, o, device);
}

std::vector<Array> ToArrays(const char* op, const char* name, PyObject* o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        throw TypeError{op, ": ", name, " must be a list or tuple of chainerx.ndarray, got ",
                        TypeName(o)};
    }
    std::vector<Array> arrays;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    arrays.reserve(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i) {  // runs no Python code
        arrays.push_back(ToArray(op, name, PySequence_Fast_GET_ITEM(o, i)));
    }
    return arrays;
}

PyObject* WrapList(const std::vector<Array>& arrays) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(arrays.size()));
    if (list == nullptr) throw PythonError{};
    for (size_t i = 0; i < arrays.size(); ++i) {
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Wrap(arrays[i]));
    }
    return list;
}

PyObject* FromInts(const int64_t* values, int64_t n) {
    PyObject* tuple = PyTuple_New(n);
    if (tuple == nullptr) throw PythonError{};
    for (int64_t i = 0; i < n; ++i) {
        PyObject* v = PyLong_FromLongLong(values[i]);
        if (v == nullptr) throw PythonError{};
        PyTuple_SET_ITEM(tuple, i, v);
    }
    return tuple;
}

PyObject* FromShape(const Shape& shape) { return FromInts(shape.begin(), shape.size()); }

}  // namespace chainerx::python
