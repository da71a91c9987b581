// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, version 3.
#include "chainerx/python/interop/cuda_array.h"

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/foreign.h"
#include "chainerx/cuda/gpu.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/interop/cuda_order.h"
#include "chainerx/python/interop/deferred.h"

namespace chainerx::python {
namespace {

constexpr const char* kInterface = "__cuda_array_interface__";

// Null for None and what is not there; borrowed.
PyObject* Find(PyObject* dict, const char* key) {
    PyObject* value = PyDict_GetItemString(dict, key);
    return Given(value) ? value : nullptr;
}

PyObject* Get(PyObject* dict, const char* key) {
    PyObject* value = Find(dict, key);
    if (value == nullptr) throw ValueError{kInterface, ": it has no ", key};
    return value;
}

Device& DeviceOf(const void* data) {
    Device& first = GetDefaultContext().GetDevice("cuda", 0);
    const int index = data == nullptr ? 0 : cuda::GpuOf(first).FindDevice(data);
    if (index < 0) {
        throw ValueError{kInterface, ": its data, ", reinterpret_cast<uintptr_t>(data),
                         ", is no address of a GPU"};
    }
    return GetDefaultContext().GetDevice("cuda", index);
}

void Order(PyObject* dict, Device& device) {
    PyObject* stream = Find(dict, "stream");
    if (stream == nullptr) return;  // nothing to wait for
    const int64_t number = ToInt(kInterface, "stream", stream);
    if (number <= 0) {
        throw ValueError{kInterface, ": stream is ", number, ", expected 1, 2 or an address"};
    }
    OrderUsAfterOthers(device, static_cast<uintptr_t>(number));
}

}  // namespace

bool HasCudaArrayInterface(PyObject* o) {
    if (Py_TYPE(o) == Numpy().ndarray || PyList_CheckExact(o) || PyTuple_CheckExact(o) ||
        PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o)) {
        return false;
    }
    const Ref found{PyObject_GetAttrString(o, kInterface)};
    if (found.get() != nullptr) return true;
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw PythonError{};
    PyErr_Clear();
    return false;
}

Array FromCudaArrayInterface(PyObject* o) {
    ReleaseDeferred();
    const Ref owned = Check(PyObject_GetAttrString(o, kInterface));
    PyObject* dict = owned.get();
    if (!PyDict_Check(dict)) {
        throw TypeError{kInterface, " is a ", Py_TYPE(dict)->tp_name, ", expected a dict"};
    }
    if (Find(dict, "mask") != nullptr) throw ValueError{kInterface, ": masks are not supported"};
    const Shape shape = ToShape(kInterface, "shape", Get(dict, "shape"));
    const Dtype dtype = ToDtype(Get(dict, "typestr"));
    CheckedNBytes(kInterface, shape, GetItemSize(dtype));
    Strides strides{shape, GetItemSize(dtype)};
    if (PyObject* given = Find(dict, "strides")) {
        const Ref sequence = Check(PySequence_Tuple(given));
        const auto n = PyTuple_GET_SIZE(sequence.get());
        if (n != shape.size()) {
            throw ValueError{kInterface, ": it has ", int64_t{n}, " strides for shape ", shape};
        }
        strides = {};
        for (Py_ssize_t i = 0; i < n; ++i) {
            const int64_t stride =
                ToInt(kInterface, "strides", PyTuple_GET_ITEM(sequence.get(), i));
            int64_t reach = 0;
            if (__builtin_mul_overflow(stride, shape[static_cast<int8_t>(i)], &reach)) {
                throw ValueError{kInterface, ": strides[", int64_t{i},
                                 "] is ",    stride,       ", too large to address"};
            }
            strides.push_back(stride);
        }
    }
    PyObject* data = Get(dict, "data");
    if (!PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) {
        throw TypeError{kInterface, ": data is a ", Py_TYPE(data)->tp_name,
                        ", expected a tuple of address and read-only flag"};
    }
    void* address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    if (address == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
    const bool writable = !ToBool(PyTuple_GET_ITEM(data, 1), false);
    if (address == nullptr && shape.GetTotalSize() != 0) {
        throw ValueError{kInterface, ": its data is null, and shape ", shape, " has elements"};
    }
    Device& device = DeviceOf(address);
    Order(dict, device);
    const internal::Owner owner{
        Py_NewRef(o), [](void* owner) {
            ReleaseWithGil(owner, [](void* object) { Py_DECREF(static_cast<PyObject*>(object)); });
        }};
    Array x = internal::WrapForeign(address, shape, strides, dtype, device,
                                    ReleaseInOrder(device, owner), writable);
    if (!internal::IsAligned(x)) {
        throw ValueError{kInterface, ": the memory is not aligned to elements of ", dtype};
    }
    return x;
}

PyObject* CudaArrayInterface(const Array& x) {
    Device& device = x.device();
    if (!HasCudaStreams(device)) {
        PyErr_Format(PyExc_AttributeError, "%s: the array is on %s, which is no GPU", kInterface,
                     device.name().c_str());
        return nullptr;
    }
    if (x.dtype() == Dtype::kBFloat16) {
        PyErr_Format(PyExc_AttributeError, "%s: bfloat16 has no type string", kInterface);
        return nullptr;
    }
    internal::CheckMayRead("the memory of an array is handed out");
    KeepForOthers(x, kLegacyStream);
    const Ref dtype = Check(FromDtype(x.dtype()));
    const Ref typestr = Check(PyObject_GetAttrString(dtype.get(), "str"));
    const Ref strides = x.IsContiguous() ? Ref{Py_NewRef(Py_None)}
                                         : Check(FromInts(x.strides().begin(), x.strides().size()));
    x.buffer()->MarkShared();
    void* data = x.GetTotalSize() == 0 ? nullptr : x.raw_data();
    return Py_BuildValue("{s:N,s:O,s:(NO),s:O,s:i,s:N}", "shape", FromShape(x.shape()), "typestr",
                         typestr.get(), "data", PyLong_FromVoidPtr(data),
                         x.IsWritable() ? Py_False : Py_True, "strides", strides.get(), "version",
                         3, "stream", PyLong_FromSize_t(CurrentCudaStream(device)));
}

}  // namespace chainerx::python
