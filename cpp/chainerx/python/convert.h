// Python objects to arguments of routines. `op` and `name` are for the message of the TypeError.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Given by the caller and not None.
inline bool Given(PyObject* o) { return o != nullptr && o != Py_None; }

[[noreturn]] CX_COLD void ThrowNotArray(const char* op, const char* name, PyObject* o);

inline const Array& ToArray(const char* op, const char* name, PyObject* o) {
    if (IsNdArray(o)) [[likely]]
        return Self(o);
    ThrowNotArray(op, name, o);
}

// Python and NumPy numbers. nullopt for everything else.
std::optional<Scalar> TryScalar(PyObject* o);
Scalar ToScalar(const char* op, const char* name, PyObject* o);
// The same for an element of an array: a float dtype takes integers of any size.
Scalar ToElement(const char* op, const char* name, PyObject* o, Dtype dtype);
// A number that may be a HugeInt: for operands that stand beside an array.
Scalar ToOperand(const char* op, const char* name, PyObject* o);

// An integer (anything with __index__).
int64_t ToInt(const char* op, const char* name, PyObject* o);
int64_t ToIntNotBool(const char* op, const char* name, PyObject* o);  // for shapes and axes
// Which diagonal, 0 if none is given. One beyond 64 bits is beyond any matrix.
int64_t ToDiagonal(const char* op, const char* name, PyObject* o);
uint64_t ToUint64(const char* op, const char* name, PyObject* o);
// Of 64 bits, with a sign or, where that is too short, without; `less` is subtracted before.
Scalar ToWideInt(const char* op, const char* name, PyObject* o, long less = 0);
// Of random numbers; none for None.
std::optional<uint64_t> ToKey(const char* op, const char* name, PyObject* o);
double ToDouble(const char* op, const char* name, PyObject* o);
bool ToBool(PyObject* o, bool fallback);
std::string_view ToString(const char* op, const char* name, PyObject* o);

// An integer or a sequence of integers.
Shape ToShape(const char* op, const char* name, PyObject* o);
// A list or tuple of what `o` has, for Items; null if it is no sequence, or an array of ours.
Ref TrySequence(PyObject* o);
// For "*args": the integers themselves, or one sequence of them.
Shape ToShapeFromArgs(const char* op, const char* name, PyObject* tuple);
// A sequence of integers, or an array of them with a dimension; nullopt for anything else.
std::optional<std::vector<int64_t>> TryInts(const char* op, const char* name, PyObject* o);
// None, an integer, or a sequence of integers.
OptionalAxes ToAxes(const char* op, const char* name, PyObject* o);
int8_t ToAxis(const char* op, const char* name, PyObject* o);
std::optional<int8_t> ToOptionalAxis(const char* op, const char* name, PyObject* o);

// None gives the default device.
Device& ToDevice(PyObject* o);
// A str or a Device.
Device& ToDeviceOr(PyObject* o, Device& fallback);

// All that numpy.dtype() takes, in the byte order of the machine.
Dtype ToDtype(PyObject* o);
// Of the elements of a NumPy array, in any byte order.
Dtype DtypeOfData(PyObject* numpy_dtype);
Dtype ToDtypeOr(PyObject* o, Dtype fallback);
// New reference to numpy.dtype.
PyObject* FromDtype(Dtype dtype);

// A list or tuple of arrays. They are held, for another thread may empty the list meanwhile.
std::vector<Array> ToArrays(const char* op, const char* name, PyObject* o);
inline std::vector<ConstArrayRef> Refs(const std::vector<Array>& arrays) {
    return {arrays.begin(), arrays.end()};
}
// An index, a list or NumPy array of them, or an ndarray as it is.
Array ToIndices(const char* op, const char* name, PyObject* o, Device& device);
// A condition, a list or NumPy array of them, or an ndarray as it is.
Array ToCondition(const char* op, const char* name, PyObject* o, Device& device);
PyObject* WrapList(const std::vector<Array>& arrays);
PyObject* FromShape(const Shape& shape);
PyObject* FromInts(const int64_t* values, int64_t n);
PyObject* FromScalar(const Array& x);  // the one element of `x` as a Python number

// What is needed of NumPy at run time. Imported with the extension: an import may let other threads
// run, so none may happen on first use, under a lock.
struct NumpyTypes {
    PyObject* module;
    PyTypeObject* ndarray;
    PyTypeObject* generic;
    PyTypeObject* bool_;
    PyTypeObject* dtype;
};
extern NumpyTypes g_numpy;
inline const NumpyTypes& Numpy() { return g_numpy; }
void InitNumpy();

enum class Sharing {
    kNever,
    // If the device is native and nothing changes. ValueError for bools that are neither 0 nor 1,
    // which need a copy.
    kWherePossible,
    // The same, but such bools are copied: for arrays that are read once.
    kUnlessOddBools
};
// Any array-like (NumPy array, buffer, list, number) through numpy.asarray. dtype none: NumPy's
// choice.
Array FromNumpy(PyObject* o, std::optional<Dtype> dtype, Sharing sharing, Device& device);
// Whether NumPy lets a numpy.ndarray be written to now. A few nanoseconds.
bool IsWritableNumpy(PyObject* numpy_array);
// A new reference to a NumPy array. Without `copy`, shares memory of native arrays.
PyObject* ToNumpy(const Array& x, bool copy);

}  // namespace chainerx::python
