// Converts Python objects to arguments of routines. `op` and `name` are for the message of the
// TypeError. It includes what else a binding needs: arrays as objects, references, and errors.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/error.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Whether the caller gave it, and it is not None.
inline bool Given(PyObject* o) { return o != nullptr && o != Py_None; }

[[noreturn]] CX_COLD void ThrowNotArray(const char* op, const char* name, PyObject* o);

inline const Array& ToArray(const char* op, const char* name, PyObject* o) {
    if (IsNdArray(o)) [[likely]]
        return Self(o);
    ThrowNotArray(op, name, o);
}

// A Python or NumPy number; nullopt for everything else.
std::optional<Scalar> TryScalar(PyObject* o);
Scalar ToScalar(const char* op, const char* name, PyObject* o);
// The same for an element of an array: a float dtype takes integers of any size.
Scalar ToElement(const char* op, const char* name, PyObject* o, Dtype dtype);
// A number that may be a HugeInt: for operands beside an array.
Scalar ToOperand(const char* op, const char* name, PyObject* o);

// An integer (anything with __index__).
int64_t ToInt(const char* op, const char* name, PyObject* o);
int64_t ToIntNotBool(const char* op, const char* name, PyObject* o);  // for shapes and axes
// The index of a diagonal, 0 by default. Beyond 64 bits it is clipped, since no matrix is that
// large.
int64_t ToDiagonal(const char* op, const char* name, PyObject* o);
uint64_t ToUint64(const char* op, const char* name, PyObject* o);
// A 64-bit integer, signed or, if that is too short, unsigned; `less` is subtracted before.
Scalar ToWideInt(const char* op, const char* name, PyObject* o, long less = 0);
// A key of random numbers; nullopt for None.
std::optional<uint64_t> ToKey(const char* op, const char* name, PyObject* o);
double ToDouble(const char* op, const char* name, PyObject* o);
bool ToBool(PyObject* o, bool fallback);
std::string_view ToString(const char* op, const char* name, PyObject* o);

// An integer or a sequence of integers.
Shape ToShape(const char* op, const char* name, PyObject* o);
// The items of `o` as a list or tuple, for Items; null if it is not a sequence, or is an ndarray.
Ref TrySequence(PyObject* o);
// For "*args": the integers themselves, or one sequence of them.
Shape ToShapeFromArgs(const char* op, const char* name, PyObject* tuple);
// A sequence of integers, or an array of them with one dimension; nullopt for anything else.
std::optional<std::vector<int64_t>> TryInts(const char* op, const char* name, PyObject* o);
// None, an integer, or a sequence of integers.
OptionalAxes ToAxes(const char* op, const char* name, PyObject* o);
int8_t ToAxis(const char* op, const char* name, PyObject* o);
std::optional<int8_t> ToOptionalAxis(const char* op, const char* name, PyObject* o);

// None means the default device.
Device& ToDevice(PyObject* o);
// A str or a Device.
Device& ToDeviceOr(PyObject* o, Device& fallback);

// Accepts all arguments of numpy.dtype(), in native byte order.
Dtype ToDtype(PyObject* o);
// The dtype of the elements of a NumPy array, in any byte order.
Dtype DtypeOfData(PyObject* numpy_dtype);
Dtype ToDtypeOr(PyObject* o, Dtype fallback);
// New reference to numpy.dtype.
PyObject* FromDtype(Dtype dtype);

// A list or tuple of arrays. The result holds references, since another thread may empty the list
// meanwhile.
std::vector<Array> ToArrays(const char* op, const char* name, PyObject* o);
inline std::vector<ConstArrayRef> Refs(const std::vector<Array>& arrays) {
    return {arrays.begin(), arrays.end()};
}
// An index, a list or NumPy array of indices, or an ndarray unchanged.
Array ToIndices(const char* op, const char* name, PyObject* o, Device& device);
// A condition, a list or NumPy array of conditions, or an ndarray unchanged.
Array ToCondition(const char* op, const char* name, PyObject* o, Device& device);
PyObject* WrapList(const std::vector<Array>& arrays);
PyObject* FromShape(const Shape& shape);
PyObject* FromInts(const int64_t* values, int64_t n);
PyObject* FromScalar(const Array& x);  // the one element of `x` as a Python number

// Objects of NumPy needed at run time. They are imported with the extension: an import may let
// other threads run, so none may happen on first use, under a lock.
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
    // Shares memory if the device is native and no conversion is needed. ValueError for bools that
    // are neither 0 nor 1, which need a copy.
    kWherePossible,
    // The same, but copies such bools: for arrays that are read once.
    kUnlessOddBools
};
// Any array-like (NumPy array, buffer, list, number) through numpy.asarray. dtype nullopt: NumPy's
// choice.
Array FromNumpy(PyObject* o, std::optional<Dtype> dtype, Sharing sharing, Device& device);
// Whether the numpy.ndarray is currently writable. Costs a few nanoseconds.
bool IsWritableNumpy(PyObject* numpy_array);
// A new reference to a NumPy array. Without `copy`, shares memory of native arrays.
PyObject* ToNumpy(const Array& x, bool copy);

}  // namespace chainerx::python
