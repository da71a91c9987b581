// Both directions go through CuPy's own description of its memory (`cupy.cuda.MemoryPointer`); see
// docs/internals/chainer_engine.md for why not through DLPack.
#include "chainerx/python/engine/cupy.h"

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/foreign.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/interop/cuda_order.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {

PyTypeObject* g_cupy_ndarray = nullptr;

namespace {

constexpr const char* kBackend = "cuda";

PyObject* g_memory = nullptr;   // cupy.cuda.UnownedMemory
PyObject* g_pointer = nullptr;  // cupy.cuda.MemoryPointer
PyObject* g_stream = nullptr;   // cupy.cuda.get_current_stream

Ref Attribute(PyObject* o, const char* name) { return Check(PyObject_GetAttrString(o, name)); }

template <typename Dims>
Dims ToDims(PyObject* tuple) {
    if (!PyTuple_Check(tuple)) throw TypeError{"expected a tuple of integers"};
    Dims dims;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
        dims.push_back(ToInt("cupy", "dims", PyTuple_GET_ITEM(tuple, i)));
    }
    return dims;
}

void* ToAddress(PyObject* o) {
    void* address = PyLong_AsVoidPtr(o);
    if (address == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    return address;
}

Device& DeviceOf(const char* op, int64_t index) {
    try {
        return GetDefaultContext().GetDevice(kBackend, static_cast<int>(index));
    } catch (const ChainerxError& e) {
        throw BackendError{op, ": chainerx computes on CuPy arrays with its backend ", kBackend,
                           ", which can't be used: ", e.what()};
    }
}

void Release(void* owner) { ReleaseObject(static_cast<PyObject*>(owner)); }

// The stream of CuPy on which this thread computes on a device.
uintptr_t CurrentStream(const Device& device) {
    const Ref stream = Check(PyObject_CallFunction(g_stream, "i", device.index()));
    const Ref handle = Attribute(stream.get(), "ptr");
    return reinterpret_cast<uintptr_t>(ToAddress(handle.get()));
}

Array Wrapped(PyObject* array, Device& device) {
    const Ref memory = Attribute(array, "data");
    const Ref shape = Attribute(array, "shape");
    const Ref strides = Attribute(array, "strides");
    const Ref dtype = Attribute(array, "dtype");
    const Ref address = Attribute(memory.get(), "ptr");
    const Dtype type = ToDtype(dtype.get());
    const auto dims = ToDims<Shape>(shape.get());
    const auto steps = ToDims<Strides>(strides.get());
    if (HasCudaStreams(device)) OrderUsAfterOthers(device, CurrentStream(device));
    return internal::WrapForeign(ToAddress(address.get()), dims, steps, type, device,
                                 ReleaseInOrder(device, {Py_NewRef(array), &Release}), true);
}

PyObject* SetCupy(PyObject*, PyObject* module) try {
    const Ref cuda = Attribute(module, "cuda");
    Ref type = Attribute(module, "ndarray");
    if (!PyType_Check(type.get())) throw TypeError{"set_cupy: ndarray is no class"};
    Py_XSETREF(g_memory, Attribute(cuda.get(), "UnownedMemory").Release());
    Py_XSETREF(g_pointer, Attribute(cuda.get(), "MemoryPointer").Release());
    Py_XSETREF(g_stream, Attribute(cuda.get(), "get_current_stream").Release());
    Py_XSETREF(g_cupy_ndarray, reinterpret_cast<PyTypeObject*>(type.Release()));
    Py_RETURN_NONE;
} catch (...) {
    return Failed("set_cupy");
}

PyMethodDef g_functions[] = {{"set_cupy", &SetCupy, METH_O,
                              "Sets the module cupy, whose arrays variables may hold from now on."},
                             {nullptr, nullptr, 0, nullptr}};

}  // namespace

Array FromCupy(const char* op, PyObject* array) {
    const Ref index = Attribute(Attribute(array, "data").get(), "device_id");
    Device& device = DeviceOf(op, ToInt(op, "device", index.get()));
    Array x = Wrapped(array, device);
    if (internal::IsAligned(x)) return x;
    return Wrapped(Check(PyObject_CallMethod(array, "copy", nullptr)).get(), device);
}

PyObject* ToCupy(const Array& x) {
    if (g_cupy_ndarray == nullptr) throw ChainerxError{"to_cupy: CuPy is not there"};
    if (x.device().backend()->name() != kBackend) {
        throw DeviceError{"to_cupy: the array is on ", x.device().name(),
                          ", expected a device of the backend ", kBackend};
    }
    const Array view = internal::Detached(x);
    if (HasCudaStreams(x.device())) {
        OrderOthersAfterUs(x.device(), CurrentStream(x.device()));
        KeepForOthers(x, kLegacyStream);
    }
    Buffer* buffer = view.buffer();
    const Ref owner{Wrap(view)};
    const Ref memory = Check(PyObject_CallFunction(
        g_memory, "NLOi", PyLong_FromVoidPtr(buffer->data()),
        static_cast<long long>(buffer->nbytes()), owner.get(), x.device().index()));
    // The data of an empty array may begin after the end of its memory.
    const auto offset =
        view.GetTotalSize() == 0 ? 0 : view.raw_data() - static_cast<char*>(buffer->data());
    const Ref pointer =
        Check(PyObject_CallFunction(g_pointer, "OL", memory.get(), static_cast<long long>(offset)));
    const Ref strides = view.IsContiguous()
                            ? Ref{Py_NewRef(Py_None)}
                            : Check(FromInts(view.strides().begin(), view.strides().size()));
    return PyObject_CallFunction(reinterpret_cast<PyObject*>(g_cupy_ndarray), "NNOO",
                                 FromShape(view.shape()), FromDtype(view.dtype()), pointer.get(),
                                 strides.get());
}

void InitCupy(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine
