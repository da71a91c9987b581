// Arrays to and from NumPy, through the buffer protocol: no NumPy headers are needed.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "chainerx/capture/recorder.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/foreign.h"
#include "chainerx/ops/shape/bool_bytes.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/interop/buffers.h"
#include "chainerx/python/interop/deferred.h"

namespace chainerx::python {
namespace {

Device& GetHost(Device& device) {
    return device.IsHostAccessible() ? device : device.context()->GetNativeBackend().GetDevice(0);
}

void ReleaseView(void* owner) {
    ReleaseWithGil(owner, [](void* o) {
        auto* view = static_cast<Py_buffer*>(o);
        PyBuffer_Release(view);
        delete view;
    });
}

PyObject* AsNumpyArray(PyObject* o, std::optional<Dtype> dtype) {
    const Ref function = Check(PyObject_GetAttrString(Numpy().module, "asarray"));
    if (!dtype) return PyObject_CallOneArg(function.get(), o);
    const Ref d = Check(FromDtype(*dtype));
    return PyObject_CallFunctionObjArgs(function.get(), o, d.get(), nullptr);
}

// Describes the first difference in length between items of nested lists, as "[1] has length 2, [0]
// has length 1". Empty if there is none, or none within the limits of number and depth: a list may
// contain itself.
std::string DescribeLengths(PyObject* o, const std::string& place, int depth, int& left) {
    if (!(PyList_Check(o) || PyTuple_Check(o)) || depth > kMaxNdim || left <= 0) return {};
    const Items items{o};
    const auto length = [&](Py_ssize_t i) {
        const bool is_list = PyList_Check(items[i]) || PyTuple_Check(items[i]);
        return is_list ? PySequence_Fast_GET_SIZE(items[i]) : Py_ssize_t{-1};
    };
    const auto describe = [&](Py_ssize_t i) {
        const std::string item = StrCat(place, "[", int64_t{i}, "]");
        return length(i) < 0 ? item + " is no list"
                             : StrCat(item, " has length ", int64_t{length(i)});
    };
    for (Py_ssize_t i = 1; i < items.size(); ++i) {
        if (length(i) != length(0)) return StrCat(describe(i), ", ", describe(0));
    }
    for (Py_ssize_t i = 0; i < items.size() && --left > 0; ++i) {
        const std::string item = StrCat(place, "[", int64_t{i}, "]");
        std::string found = DescribeLengths(items[i], item, depth + 1, left);
        if (!found.empty()) return found;
    }
    return {};
}

// Replaces NumPy's error for lists of different lengths by one that tells which lists differ.
void CheckLengths(PyObject* o) {
    if (PyErr_ExceptionMatches(PyExc_ValueError) == 0) return;
    int left = 10'000;
    const std::string found = DescribeLengths(o, "", 0, left);
    if (found.empty()) return;
    PyErr_Clear();
    throw ValueError{"the lists are inhomogeneous: ", found};
}

Dtype DtypeOf(PyObject* numpy_array) {
    const Ref d = Check(PyObject_GetAttrString(numpy_array, "dtype"));
    return DtypeOfData(d.get());
}

bool IsNative(PyObject* numpy_array) {
    const Ref d = Check(PyObject_GetAttrString(numpy_array, "dtype"));
    const Ref native = Check(PyObject_GetAttrString(d.get(), "isnative"));
    return PyObject_IsTrue(native.get()) == 1;
}

// The buffer of an array; bfloat16, which has no buffer format, as uint16.
Py_buffer* GetBuffer(PyObject* numpy_array, Dtype dtype) {
    auto* view = new Py_buffer;
    PyObject* source = Py_NewRef(numpy_array);
    if (dtype == Dtype::kBFloat16) {
        Py_DECREF(source);
        source = PyObject_CallMethod(numpy_array, "view", "s", "uint16");
    }
    const int ok = source == nullptr ? -1 : PyObject_GetBuffer(source, view, PyBUF_STRIDED_RO);
    Py_XDECREF(source);
    if (ok < 0) {
        delete view;
        throw PythonError{};
    }
    return view;
}

// NumPy's buffers have other strides than the array along axes of length 0 or 1, and NumPy restores
// them here.
void RestoreStrides(PyObject* numpy_array, const Shape& shape, Strides& strides) {
    if (std::ranges::none_of(shape, [](int64_t n) { return n <= 1; })) return;
    const Ref own = Check(PyObject_GetAttrString(numpy_array, "strides"));
    const Shape given = ToShape("asarray", "strides", own.get());
    strides = Strides(given.begin(), given.end());
}

// Shares the memory of an array; takes ownership of the view.
Array WrapView(PyObject* numpy_array, Py_buffer* view, Dtype dtype, Device& device) {
    Shape shape;
    Strides strides;
    try {
        shape = Shape(view->shape, view->shape + view->ndim);
        strides = Strides(view->strides, view->strides + view->ndim);
        RestoreStrides(numpy_array, shape, strides);
    } catch (...) {
        PyBuffer_Release(view);
        delete view;
        throw;
    }
    return internal::WrapForeign(view->buf, shape, strides, dtype, device, {view, &ReleaseView},
                                 view->readonly == 0);
}

Array WrapNumpy(PyObject* numpy_array, Dtype dtype, Device& device) {
    return WrapView(numpy_array, GetBuffer(numpy_array, dtype), dtype, device);
}

// The dtype of a buffer format in native byte order.
std::optional<Dtype> FromFormat(const char* format) {
    if (format == nullptr) return std::nullopt;
    if (format[0] == 'Z' && format[1] != 0 && format[2] == 0) {
        if (format[1] == 'f') return Dtype::kComplex64;
        if (format[1] == 'd') return Dtype::kComplex128;
        return std::nullopt;
    }
    if (format[0] == 0 || format[1] != 0) return std::nullopt;
    switch (format[0]) {
        case '?':
            return Dtype::kBool;
        case 'b':
            return Dtype::kInt8;
        case 'h':
            return Dtype::kInt16;
        case 'i':
            return Dtype::kInt32;
        case 'l':
        case 'q':
            return Dtype::kInt64;
        case 'B':
            return Dtype::kUInt8;
        case 'H':
            return Dtype::kUInt16;
        case 'I':
            return Dtype::kUInt32;
        case 'L':
        case 'Q':
            return Dtype::kUInt64;
        case 'e':
            return Dtype::kFloat16;
        case 'f':
            return Dtype::kFloat32;
        case 'd':
            return Dtype::kFloat64;
        default:
            return std::nullopt;
    }
}

// The fast path for most arrays: plain numbers in native byte order, aligned. Null for all others.
Array TryWrap(PyObject* o, Device& device) {
    if (Py_TYPE(o) != Numpy().ndarray || !device.IsHostAccessible()) return Array{};
    auto* view = new Py_buffer;
    if (PyObject_GetBuffer(o, view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        delete view;
        return Array{};
    }
    const std::optional<Dtype> dtype = FromFormat(view->format);
    if (!dtype || view->ndim > kMaxNdim) {
        PyBuffer_Release(view);
        delete view;
        return Array{};
    }
    Array x = WrapView(o, view, *dtype, device);
    return internal::IsAligned(x) ? x : Array{};
}

// Lets `x` share the memory of a NumPy array, or copies it.
Array Share(Array x, Sharing sharing) {
    if (sharing == Sharing::kNever) return internal::CopyPlain(x);
    {
        const internal::Unobserved by_ourselves;  // the host looks at its own memory
        if (internal::HasPlainBools(x)) return x;
    }
    if (sharing == Sharing::kUnlessOddBools) return internal::CopyPlain(x);
    throw ValueError{"the memory of the bool array of shape ", x.shape(),
                     " holds bytes other than 0 and 1, so it can't be shared; copy it with "
                     "chainerx.array(x)"};
}

// The first fields of a numpy.ndarray. Macros of NumPy's headers read them, so all modules built
// against NumPy rely on this layout.
struct NumpyArray {
    PyObject_HEAD char* data;
    int ndim;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
    PyObject* base;
    PyObject* dtype;
    int flags;
};
constexpr int kWritableFlag = 0x400;
constexpr int kOwnsDataFlag = 0x4;

bool HasWritableFlag(PyObject* numpy_array) {
    return (reinterpret_cast<NumpyArray*>(numpy_array)->flags & kWritableFlag) != 0;
}

// Tests with an array whether the struct above is right.
bool IsLayoutKnown() {
    const Ref array = Check(PyObject_CallMethod(Numpy().module, "empty", "i", 1));
    if (!HasWritableFlag(array.get())) return false;
    Check(PyObject_CallMethod(array.get(), "setflags", "O", Py_False));
    return !HasWritableFlag(array.get());
}

// Asks once, under the GIL.
bool CanReadFields() {
    static int is_known = -1;
    if (is_known < 0) is_known = IsLayoutKnown() ? 1 : 0;
    return is_known == 1;
}

// For captured steps. ndarray.resize moves memory, though others hold the array, if it is told not
// to look whether they do; views of it keep the old address.
bool IsWhereItWas(const Buffer& buffer) {
    const auto* view = static_cast<const Py_buffer*>(internal::FindOwner(buffer, &ReleaseView));
    if (view == nullptr || !PyObject_TypeCheck(view->obj, Numpy().ndarray)) return true;
    if (!CanReadFields()) return false;
    const auto* array = reinterpret_cast<const NumpyArray*>(view->obj);
    if (array->data != view->buf) return false;
    while (array->base != nullptr && PyObject_TypeCheck(array->base, Numpy().ndarray)) {
        array = reinterpret_cast<const NumpyArray*>(array->base);
    }
    if ((array->flags & kOwnsDataFlag) == 0) return true;
    const Ref nbytes = Check(PyObject_GetAttrString(
        const_cast<PyObject*>(reinterpret_cast<const PyObject*>(array)), "nbytes"));
    const auto* const begin = static_cast<const char*>(buffer.data());
    return array->data <= begin &&
           begin + buffer.nbytes() <= array->data + PyLong_AsSsize_t(nbytes.get());
}

// Whether an object is a number, or lists of numbers, and so shows no memory that may change.
bool IsOfNumbers(PyObject* o, int depth = 0) {
    if (PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
        PyComplex_CheckExact(o) || PyObject_TypeCheck(o, Numpy().generic)) {
        return true;
    }
    if (!(PyList_CheckExact(o) || PyTuple_CheckExact(o)) || depth > kMaxNdim) return false;
    const Items items{o};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (!IsOfNumbers(items[i], depth + 1)) return false;
    }
    return true;
}

// An array of the step's own, of the numbers of a list: a part of the recording.
Array MakeConstant(PyObject* numpy_array, Dtype dtype, Device& device) {
    Array packed;
    {
        const internal::Unobserved by_ourselves;
        packed = AsContiguous(WrapNumpy(numpy_array, dtype, GetHost(device)));
    }
    Array y = EmptyUnchecked(packed.shape(), dtype, device);
    device.CopyFromHost(y.raw_data(), packed.raw_data(), packed.GetNBytes());
    return y;
}

}  // namespace

bool IsWritableNumpy(PyObject* numpy_array) {
    if (CanReadFields()) return HasWritableFlag(numpy_array);
    Py_buffer view;
    if (PyObject_GetBuffer(numpy_array, &view, PyBUF_WRITABLE) < 0) {
        PyErr_Clear();
        return false;
    }
    PyBuffer_Release(&view);
    return true;
}

void InitNumpyMemory() { internal::SetBorrowedCheck(&IsWhereItWas); }

Array FromNumpy(PyObject* o, std::optional<Dtype> dtype, Sharing sharing, Device& device) {
    ReleaseDeferred();
    if (!dtype && sharing != Sharing::kNever) {
        if (Array x = TryWrap(o, device); !x.is_null()) return Share(std::move(x), sharing);
    }
    PyObject* array = AsNumpyArray(o, dtype);
    if (array == nullptr) {
        CheckLengths(o);
        throw PythonError{};
    }
    const Ref owned{array};
    if (!IsNative(array)) {  // byte-swapped: NumPy converts
        const Ref d = Check(FromDtype(DtypeOf(array)));
        return FromNumpy(Check(PyObject_CallMethod(array, "astype", "O", d.get())).get(), dtype,
                         sharing, device);
    }
    const Dtype found = DtypeOf(array);
    if (internal::CurrentCapture() != nullptr && IsOfNumbers(o)) {
        return MakeConstant(array, found, device);
    }
    Device& host = GetHost(device);
    const Array shared = WrapNumpy(array, found, host);
    if (!internal::IsAligned(shared)) {
        const Ref c = Check(PyObject_CallMethod(array, "copy", nullptr));
        return FromNumpy(c.get(), dtype, Sharing::kNever, device);
    }
    if (&host == &device) return Share(shared, sharing);
    const Array packed = IsBool(found) ? internal::CopyPlain(shared) : AsContiguous(shared);
    Array y = EmptyUnchecked(packed.shape(), found, device);
    device.CopyFromHost(y.raw_data(), packed.raw_data(), packed.GetNBytes());
    return y;
}

namespace {

// Whether a format contains Python objects. Names stand between colons; their letters are ignored.
bool HasObjects(const char* format) {
    bool is_name = false;
    for (; format != nullptr && *format != 0; ++format) {
        if (*format == ':') is_name = !is_name;
        if (*format == 'O' && !is_name) return true;
    }
    return false;
}

// The number of elements. Throws if the buffer is too short.
int64_t CountIn(const Py_buffer& view, Dtype dtype, int64_t count, int64_t offset) {
    constexpr const char* kOp = "frombuffer";
    if (PyBuffer_IsContiguous(&view, 'C') == 0) {
        throw DimensionError{kOp, ": the buffer is not C-contiguous"};
    }
    if (HasObjects(view.format)) throw ValueError{kOp, ": the buffer holds Python objects"};
    if (offset < 0 || offset > view.len) {
        throw DimensionError{kOp,     ": offset ", offset, " is not within ", int64_t{view.len},
                             " bytes"};
    }
    const int64_t left = view.len - offset;
    const int64_t size = GetItemSize(dtype);
    if (count < 0 && left % size != 0) {
        throw DimensionError{kOp,  ": ",   left, " bytes are no multiple of the ",
                             size, " of ", dtype};
    }
    if (count > left / size) {
        throw DimensionError{kOp,   ": ",
                             count, " elements of ",
                             dtype, " need more than the ",
                             left,  " bytes of the buffer"};
    }
    return count < 0 ? left / size : count;
}

}  // namespace

Array FromBuffer(PyObject* o, Dtype dtype, int64_t count, int64_t offset, Device& device) {
    ReleaseDeferred();
    auto memory = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(o, memory.get(), PyBUF_FULL_RO) < 0) throw PythonError{};
    const auto release = [](Py_buffer* view) { ReleaseView(view); };
    std::unique_ptr<Py_buffer, decltype(release)> view{memory.release(), release};
    count = CountIn(*view, dtype, count, offset);
    if (count == 0) return EmptyUnchecked({0}, dtype, device);
    Device& host = GetHost(device);
    char* const data = static_cast<char*>(view->buf) + offset;
    const bool is_writable = view->readonly == 0;
    const Array x = internal::WrapForeign(data, {count}, {GetItemSize(dtype)}, dtype, host,
                                          {view.release(), &ReleaseView}, is_writable);
    if (internal::IsAligned(x) && &host == &device) return Share(x, Sharing::kWherePossible);
    if (IsBool(dtype)) Share(x, Sharing::kWherePossible);  // for its error message
    const Array y = EmptyUnchecked({count}, dtype, device);
    device.CopyFromHost(y.raw_data(), x.raw_data(), y.GetNBytes());
    return y;
}

PyObject* ToNumpy(const Array& x, bool copy) {
    internal::CheckMayRead("NumPy is given an array");
    Array host = internal::Detached(x);
    if (!x.device().IsHostAccessible()) {
        const Array packed = AsContiguous(host);
        x.device().Synchronize();
        host = EmptyUnchecked(x.shape(), x.dtype(), x.context().GetNativeBackend().GetDevice(0));
        x.device().CopyToHost(host.raw_data(), packed.raw_data(), packed.GetNBytes());
    } else if (copy) {
        host = Copy(host);
    }
    const bool special = host.dtype() == Dtype::kBFloat16;
    if (special) host.body()->dtype = Dtype::kUInt16;  // our own view: no one else sees it
    const Ref wrapped = Check(Wrap(host));
    // NumPy would choose other strides for axes of length 0 or 1.
    const bool plain = host.strides() == Strides(host.shape(), host.GetItemSize());
    if (!special && plain && host.GetTotalSize() != 0) {  // the fast path
        const Ref shape = Check(FromShape(host.shape()));
        const Ref dtype = Check(FromDtype(host.dtype()));
        PyObject* args[] = {shape.get(), dtype.get(), wrapped.get()};
        PyObject* array =
            PyObject_Vectorcall(reinterpret_cast<PyObject*>(Numpy().ndarray), args, 3, nullptr);
        if (array == nullptr) throw PythonError{};
        return array;
    }
    const Ref asarray = Check(PyObject_GetAttrString(Numpy().module, "asarray"));
    const Ref memory = Check(PyMemoryView_FromObject(wrapped.get()));
    PyObject* array = PyObject_CallOneArg(asarray.get(), memory.get());
    if (array == nullptr || !special) {
        if (array == nullptr) throw PythonError{};
        return array;
    }
    const Ref bits = Check(array);
    const Ref d = Check(FromDtype(Dtype::kBFloat16));
    return PyObject_CallMethod(array, "view", "O", d.get());
}

}  // namespace chainerx::python
