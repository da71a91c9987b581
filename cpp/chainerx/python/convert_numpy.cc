// Arrays to and from NumPy, through the buffer protocol: no NumPy headers are needed.
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/foreign.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/creation.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

class Owned {
 public:
    explicit Owned(PyObject* o) : o_{o} {
        if (o == nullptr) throw PythonError{};
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() { Py_DECREF(o_); }
    PyObject* get() const { return o_; }

 private:
    PyObject* o_;
};

// Py_buffers whose arrays have gone. A deleter may run on any thread, with or without the GIL, and
// must not wait for it: without, it queues; the queue is emptied from Python threads.
std::mutex g_mutex;
std::atomic<bool> g_queued{false};
std::vector<Py_buffer*>& Queue() {
    static std::vector<Py_buffer*>& queue = *new std::vector<Py_buffer*>;
    return queue;
}

int ReleaseQueued(void* = nullptr) {
    std::vector<Py_buffer*> views;
    {
        const std::lock_guard lock{g_mutex};
        views.swap(Queue());
        g_queued.store(false, std::memory_order_relaxed);
    }
    for (Py_buffer* v : views) {
        PyBuffer_Release(v);
        delete v;
    }
    return 0;
}

void ReleaseOrQueue(void* owner) {
    if (Py_IsInitialized() == 0) return;  // the arrays went with the interpreter
    if (PyGILState_Check() != 0) {
        auto* view = static_cast<Py_buffer*>(owner);
        PyBuffer_Release(view);
        delete view;
        return;
    }
    bool first;
    {
        const std::lock_guard lock{g_mutex};
        first = Queue().empty();
        Queue().push_back(static_cast<Py_buffer*>(owner));
        g_queued.store(true, std::memory_order_relaxed);
    }
    // Runs soon in the main thread, even if nobody wraps another array.
    if (first) Py_AddPendingCall(&ReleaseQueued, nullptr);
}

PyObject* AsNumpyArray(PyObject* o, std::optional<Dtype> dtype) {
    const Owned function{PyObject_GetAttrString(Numpy().module, "asarray")};
    if (!dtype) return PyObject_CallOneArg(function.get(), o);
    const Owned d{FromDtype(*dtype)};
    return PyObject_CallFunctionObjArgs(function.get(), o, d.get(), nullptr);
}

Dtype DtypeOf(PyObject* numpy_array) {
    const Owned d{PyObject_GetAttrString(numpy_array, "dtype")};
    return ToDtype(d.get());
}

bool IsNative(PyObject* numpy_array) {
    const Owned d{PyObject_GetAttrString(numpy_array, "dtype")};
    const Owned native{PyObject_GetAttrString(d.get(), "isnative")};
    return PyObject_IsTrue(native.get()) == 1;
}

// The array's memory; bfloat16, which has no buffer format, as uint16.
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

// Shares the memory; takes over the view.
Array WrapView(Py_buffer* view, Dtype dtype, Device& device) {
    Shape shape;
    Strides strides;
    try {
        shape = Shape(view->shape, view->shape + view->ndim);
        strides = Strides(view->strides, view->strides + view->ndim);
    } catch (...) {
        PyBuffer_Release(view);
        delete view;
        throw;
    }
    return internal::WrapForeign(view->buf, shape, strides, dtype, device, {view, &ReleaseOrQueue},
                                 view->readonly == 0);
}

Array WrapNumpy(PyObject* numpy_array, Dtype dtype, Device& device) {
    return WrapView(GetBuffer(numpy_array, dtype), dtype, device);
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

// What most arrays are: plain numbers in native order, aligned. Null for all others.
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
    Array x = WrapView(view, *dtype, device);
    return internal::IsAligned(x) ? x : Array{};
}

}  // namespace

Array FromNumpy(PyObject* o, std::optional<Dtype> dtype, bool copy, Device& device) {
    if (g_queued.load(std::memory_order_relaxed)) ReleaseQueued();
    if (!dtype && !copy) {
        if (Array x = TryWrap(o, device)) return x;
    }
    PyObject* array = AsNumpyArray(o, dtype);
    if (array == nullptr) throw PythonError{};
    Owned owned{array};
    if (!IsNative(array)) {  // byte-swapped: NumPy converts
        const Owned d{FromDtype(DtypeOf(array))};
        return FromNumpy(Owned{PyObject_CallMethod(array, "astype", "O", d.get())}.get(), dtype,
                         copy, device);
    }
    const Dtype found = DtypeOf(array);
    Device& host =
        device.IsHostAccessible() ? device : device.context()->GetNativeBackend().GetDevice(0);
    const Array shared = WrapNumpy(array, found, host);
    if (!internal::IsAligned(shared)) {
        const Owned c{PyObject_CallMethod(array, "copy", nullptr)};
        const Array aligned = WrapNumpy(c.get(), found, host);
        return FromNumpy(c.get(), dtype, true, device);
    }
    if (&host == &device) return copy ? Copy(shared) : shared;
    const Array packed = AsContiguous(shared);
    Array y = EmptyUnchecked(packed.shape(), found, device);
    device.CopyFromHost(y.raw_data(), packed.raw_data(), packed.GetNBytes());
    return y;
}

PyObject* ToNumpy(const Array& x, bool copy) {
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
    if (special) host.body()->dtype = Dtype::kUInt16;  // our own view: nobody else sees it
    const Owned wrapped{Wrap(host)};
    if (!special && host.IsContiguous() && host.GetTotalSize() != 0) {  // the quick way
        const Owned shape{FromShape(host.shape())};
        const Owned dtype{FromDtype(host.dtype())};
        PyObject* args[] = {shape.get(), dtype.get(), wrapped.get()};
        PyObject* array =
            PyObject_Vectorcall(reinterpret_cast<PyObject*>(Numpy().ndarray), args, 3, nullptr);
        if (array == nullptr) throw PythonError{};
        return array;
    }
    const Owned asarray{PyObject_GetAttrString(Numpy().module, "asarray")};
    const Owned memory{PyMemoryView_FromObject(wrapped.get())};
    PyObject* array = PyObject_CallOneArg(asarray.get(), memory.get());
    if (array == nullptr || !special) {
        if (array == nullptr) throw PythonError{};
        return array;
    }
    const Owned bits{array};
    const Owned d{FromDtype(Dtype::kBFloat16)};
    return PyObject_CallMethod(array, "view", "O", d.get());
}

}  // namespace chainerx::python
