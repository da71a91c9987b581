// The buffer protocol: memoryview(x), and NumPy's view of our memory.

#include "chainerx/core/capture_observer.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray_slots.h"

namespace chainerx::python {
namespace {

// The arrays that Py_buffer points to.
struct Layout {
    Py_ssize_t shape[kMaxNdim];
    Py_ssize_t strides[kMaxNdim];
    char format[3];
};

void SetFormat(Dtype dtype, char* format) {
    if (IsComplex(dtype)) {
        format[0] = 'Z';
        format[1] = dtype == Dtype::kComplex64 ? 'f' : 'd';
        format[2] = 0;
    } else {
        format[0] = GetCharCode(dtype);
        format[1] = 0;
    }
}

int GetBuffer(PyObject* o, Py_buffer* view, int flags) {
    view->obj = nullptr;
    const Array& x = Self(o);
    internal::CheckMayRead("the memory of an array is handed out");
    if (!x.device().IsHostAccessible()) {
        PyErr_Format(PyExc_BufferError,
                     "the array is on %s, which the host cannot read; use to_device('native')",
                     x.device().name().c_str());
        return -1;
    }
    if (x.dtype() == Dtype::kBFloat16) {
        PyErr_SetString(PyExc_BufferError,
                        "bfloat16 has no buffer format; use chainerx.to_numpy(x)");
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !x.IsWritable()) {
        PyErr_SetString(PyExc_BufferError, "the memory of the array is read-only");
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !x.IsContiguous()) {
        PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
        return -1;
    }
    const bool c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
    const bool f = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
    if ((c || f) && !x.IsContiguous()) {
        PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
        return -1;
    }
    auto* layout = static_cast<Layout*>(PyMem_Malloc(sizeof(Layout)));
    if (layout == nullptr) {
        PyErr_NoMemory();
        return -1;
    }
    for (int8_t i = 0; i < x.ndim(); ++i) {
        layout->shape[i] = x.shape()[i];
        layout->strides[i] = x.strides()[i];
    }
    SetFormat(x.dtype(), layout->format);
    view->buf = x.raw_data();
    view->len = x.GetNBytes();
    view->itemsize = x.GetItemSize();
    view->readonly = x.IsWritable() ? 0 : 1;
    x.buffer()->MarkShared();
    view->ndim = x.ndim();
    view->format = (flags & PyBUF_FORMAT) != 0 ? layout->format : nullptr;
    view->shape = (flags & PyBUF_ND) != 0 ? layout->shape : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? layout->strides : nullptr;
    view->suboffsets = nullptr;
    view->internal = layout;
    view->obj = Py_NewRef(o);
    return 0;
}

void ReleaseBuffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

}  // namespace

void AddBufferSlots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(&GetBuffer)});
    slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(&ReleaseBuffer)});
}

}  // namespace chainerx::python
