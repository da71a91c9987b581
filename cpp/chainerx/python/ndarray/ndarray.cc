// The type object, its life cycle, and its attributes. methods_*.cc has the methods,
// ndarray_number.cc the operators.
#include "chainerx/python/ndarray/ndarray.h"

#include <structmember.h>

#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/autograd/record.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/grad_hooks.h"
#include "chainerx/python/interop/cuda_array.h"
#include "chainerx/python/ndarray/ndarray_at.h"
#include "chainerx/python/ndarray/ndarray_slots.h"
#include "chainerx/python/values.h"

namespace chainerx::python {

PyTypeObject* g_ndarray_type = nullptr;
VisitGraphFn g_visit_graph = nullptr;

namespace {

// A free list of wrappers. Guarded by the GIL.
constexpr int kMaxFree = 256;
#ifdef Py_GIL_DISABLED
constexpr bool kUseFreeList = false;
#else
constexpr bool kUseFreeList = true;
#endif
NdArray* g_free[kMaxFree];
int g_num_free = 0;

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<NdArray*>(o);
    if (self->tracked) PyObject_GC_UnTrack(o);
    // First, since the callback of a weak reference may wrap the array again.
    if (self->body != nullptr) self->body->python = nullptr;
    if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(o);
    if (internal::ArrayBody* body = self->body) {
        self->body = nullptr;
        body->UnrefInline();
    }
    if (kUseFreeList && g_num_free < kMaxFree) {
        g_free[g_num_free++] = self;
    } else {
        PyObject_GC_Del(o);
    }
    Py_DECREF(g_ndarray_type);
}

// Clears hooks only: other members of a cycle are attributes and containers, which their owners
// clear.
int Clear(PyObject* o) {
    ClearGradHooks(reinterpret_cast<NdArray*>(o)->body);
    return 0;
}

int Traverse(PyObject* o, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(o));
    if (const int result = VisitGradHooks(reinterpret_cast<NdArray*>(o)->body, visit, arg)) {
        return result;
    }
    return g_visit_graph != nullptr
               ? g_visit_graph(o, reinterpret_cast<NdArray*>(o)->body, visit, arg)
               : 0;
}

// Allocates an untracked object. Disables the collector, which might run code of the user.
NdArray* Alloc() {
    const bool enabled = PyGC_Disable() != 0;
    auto* o = PyObject_GC_New(NdArray, g_ndarray_type);
    if (enabled) PyGC_Enable();
    if (o == nullptr) throw PythonError{};
    return o;
}

PyObject* New(PyTypeObject*, PyObject* args, PyObject* keywords) try {
    static const char* names[] = {"shape", "dtype", "device", nullptr};
    PyObject* shape;
    PyObject* dtype;
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|O:ndarray", const_cast<char**>(names),
                                     &shape, &dtype, &device)) {
        return nullptr;
    }
    const Array x = Empty(ToShape("ndarray", "shape", shape), ToDtype(dtype), ToDevice(device));
    if (IsBool(x.dtype())) x.Fill(false);  // the memory may hold any byte
    return Wrap(x);
} catch (...) {
    return Failed();
}

template <PyObject* (*kGet)(const Array&)>
PyObject* Get(PyObject* self, void*) try {
    return kGet(Self(self));
} catch (...) {
    return Failed();
}

PyObject* GetGrad(const Array& x) {
    std::optional<Array> g = x.GetGrad();
    return g ? Wrap(std::move(*g)) : Py_NewRef(Py_None);
}

int SetGrad(PyObject* self, PyObject* value, void*) try {
    if (!Given(value)) {
        Self(self).ClearGrad();
    } else {
        Self(self).SetGrad(ToArray("grad", "value", value));
    }
    return 0;
} catch (...) {
    TranslateException();
    return -1;
}

// Assigns a part of complex numbers, or the real part of others.
template <bool kIsReal>
int SetPart(PyObject* self, PyObject* value, void*) {
    constexpr const char* kName = kIsReal ? "real" : "imag";
    try {
        const Array& x = Self(self);
        if (value == nullptr) throw TypeError{kName, ": cannot be deleted"};
        if (!kIsReal && !IsComplex(x.dtype())) {
            throw TypeError{kName, ": an array of ", x.dtype(), " has none to set"};
        }
        internal::CheckInPlaceOutput(kName, x);
        const Array all = internal::Detached(x);
        const Array part = kIsReal ? Real(all) : Imag(all);
        Assign(part, ToValues(kName, "value", part, value));
        return 0;
    } catch (...) {
        TranslateException(kName);
        return -1;
    }
}

int SetFlat(PyObject* self, PyObject* value, void*) try {
    if (value == nullptr) throw TypeError{"flat: cannot be deleted"};
    AssignFlat(Self(self), value);
    return 0;
} catch (...) {
    TranslateException("flat");
    return -1;
}

PyObject* Number(int64_t v) { return PyLong_FromLongLong(v); }
PyObject* Address(const Array& x, const void* p) {
    internal::CheckMayRead("the memory of an array is handed out");
    x.buffer()->MarkShared();
    return PyLong_FromVoidPtr(const_cast<void*>(p));
}

// Uses the NumPy view of the memory, which provides all type codes.
PyObject* ArrayInterface(const Array& x) {
    if (!x.device().IsHostAccessible()) {
        PyErr_Format(PyExc_AttributeError,
                     "__array_interface__: the array is on %s, which the host cannot read",
                     x.device().name().c_str());
        return nullptr;
    }
    if (x.dtype() == Dtype::kBFloat16) {  // NumPy would take its type string for raw bytes
        PyErr_SetString(PyExc_AttributeError, "__array_interface__: bfloat16 has no type string");
        return nullptr;
    }
    PyObject* array = ToNumpy(x, false);
    PyObject* interface = PyObject_GetAttrString(array, "__array_interface__");
    Py_DECREF(array);
    return interface;
}

PyObject* FlatData(const Array& x) {
    PyObject* array = ToNumpy(x, true);
    PyObject* flat = PyObject_CallMethod(array, "ravel", nullptr);
    Py_DECREF(array);
    PyObject* list = flat != nullptr ? PyObject_CallMethod(flat, "tolist", nullptr) : nullptr;
    Py_XDECREF(flat);
    return list;
}

Array MatrixTransposed(const Array& x) {
    if (x.ndim() < 2) throw DimensionError{"mT: shape ", x.shape(), " has fewer than 2 dimensions"};
    return Swapaxes(x, -2, -1);
}

// Name, annotation in the stub, value, docstring.
#define CX_ATTRIBUTES(X)                                                                          \
    X(shape, "tuple[int, ...]", FromShape(x.shape()), "Dimensions.")                              \
    X(strides, "tuple[int, ...]", FromInts(x.strides().begin(), x.strides().size()),              \
      "Strides, in bytes.")                                                                       \
    X(dtype, "numpy.dtype[Any]", FromDtype(x.dtype()), "Element type, a numpy.dtype.")            \
    X(device, "Device", FromDevice(x.device()), "The device that the data is on.")                \
    X(ndim, "int", Number(x.ndim()), "Number of dimensions.")                                     \
    X(size, "int", Number(x.GetTotalSize()), "Number of elements.")                               \
    X(itemsize, "int", Number(x.GetItemSize()), "Bytes of one element.")                          \
    X(nbytes, "int", Number(x.GetNBytes()), "Bytes of all elements.")                             \
    X(offset, "int", Number(x.offset()),                                                          \
      "Offset in bytes from the start of the memory to the first element.")                       \
    X(data_ptr, "int", Address(x, x.buffer()->data()), "Address of the memory.")                  \
    X(data_size, "int", Number(x.buffer()->nbytes()),                                             \
      "Size in bytes of the memory that the array is a view of.")                                 \
    X(_debug_data_memory_address, "int", Address(x, x.raw_data()),                                \
      "Address of the first element.")                                                            \
    X(_debug_flat_data, "list[Any]", FlatData(x), "The elements in C order, as a list.")          \
    X(__array_interface__, "dict[str, Any]", ArrayInterface(x),                                   \
      "NumPy's description of the memory, which is shared.")                                      \
    X(__cuda_array_interface__, "dict[str, Any]", CudaArrayInterface(x),                          \
      "Numba's description of the memory of a GPU, which is shared, in the order of the current " \
      "stream.")                                                                                  \
    X(is_contiguous, "bool", PyBool_FromLong(x.IsContiguous()),                                   \
      "Whether the layout is C-contiguous.")                                                      \
    X(T, "ndarray", Wrap(Transpose(x)), "The transposed array, a view. Differentiable.")          \
    X(mT, "ndarray", Wrap(MatrixTransposed(x)),                                                   \
      "The matrices of the last two axes transposed, a view. Differentiable.")                    \
    X(at, "_At", WrapAt(x),                                                                       \
      "x.at[index].set(values), add(), multiply(), ...: a new array with changed elements. "      \
      "Differentiable.")

#define CX_GETTER(name, type, expr, doc) \
    {#name, &Get<[](const Array& x) -> PyObject* { return expr; }>, nullptr, doc, nullptr},
PyGetSetDef g_getset[] = {
    CX_ATTRIBUTES(CX_GETTER){"grad", &Get<&GetGrad>, &SetGrad,
                             "The gradient for the default backprop id; None if unset.", nullptr},
    {"real", &Get<[](const Array& x) -> PyObject* { return Wrap(Real(x)); }>, &SetPart<true>,
     "A view of the real parts. Differentiable.", nullptr},
    {"imag", &Get<[](const Array& x) -> PyObject* { return Wrap(Imag(x)); }>, &SetPart<false>,
     "A view of the imaginary parts; zeros for real dtypes. Differentiable.", nullptr},
    {"flat", &Get<&WrapFlat>, &SetFlat,
     "The elements in C order: x.flat[i], x.flat[i:j] = values, for y in x.flat.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
#undef CX_GETTER

PyMemberDef g_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(NdArray, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef* Methods() {
    static std::vector<PyMethodDef> methods;
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        if (b->kind != Binding::kMethod) continue;
        b->spec.Init();
        const std::string doc =
            StrCat(b->spec.name(), b->spec.TextSignature(true), "\n--\n\n", b->doc);
        methods.push_back({b->spec.name(),
                           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(b->entry)),
                           METH_FASTCALL | METH_KEYWORDS, strdup(doc.c_str())});
    }
    methods.push_back({nullptr, nullptr, 0, nullptr});
    return methods.data();
}

}  // namespace

PyObject* Wrap(Array array) {
    internal::ArrayBody* body = array.body();
    if (body->python != nullptr) return Py_NewRef(static_cast<PyObject*>(body->python));
    NdArray* o;
    if (g_num_free > 0) {
        o = g_free[--g_num_free];
        PyObject_Init(reinterpret_cast<PyObject*>(o), g_ndarray_type);
    } else {
        o = Alloc();
    }
    o->weakrefs = nullptr;
    o->tracked = false;
    o->body = array.Release();
    body->python = o;
    const internal::Slot* slot = body->slot;
    if (slot != nullptr && slot->node != nullptr && slot->node->foreign_below) [[unlikely]]
        Track(reinterpret_cast<PyObject*>(o));
    return reinterpret_cast<PyObject*>(o);
}

void Track(PyObject* ndarray) {
    auto* self = reinterpret_cast<NdArray*>(ndarray);
    if (self->tracked) return;
    self->tracked = true;
    PyObject_GC_Track(ndarray);
}

PyObject* AttributeTypes() {
#define CX_TYPE(name, type, expr, doc) #name, type,
    static constexpr const char* kTypes[] = {CX_ATTRIBUTES(CX_TYPE) "grad",
                                             "ndarray | None",
                                             "real",
                                             "ndarray",
                                             "imag",
                                             "ndarray",
                                             "flat",
                                             "_Flat"};
#undef CX_TYPE
    PyObject* dict = PyDict_New();
    for (size_t i = 0; i < std::size(kTypes); i += 2) {
        PyObject* type = PyUnicode_FromString(kTypes[i + 1]);
        PyDict_SetItemString(dict, kTypes[i], type);
        Py_DECREF(type);
    }
    return dict;
}

void InitNdArray(PyObject* module) {
    std::vector<PyType_Slot> slots = {
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_getset, g_getset},
        {Py_tp_members, g_members},
        {Py_tp_methods, Methods()},
        {Py_tp_hash, reinterpret_cast<void*>(&PyObject_HashNotImplemented)},
        {Py_tp_doc, const_cast<char*>("ndarray(shape, dtype, device=None)\n"
                                      "--\n\n"
                                      "An n-dimensional array on a device, uninitialized; "
                                      "chainerx.array() creates one from values.")}};
    AddNumberSlots(slots);
    AddMatmulSlot(slots);
    AddSequenceSlots(slots);
    AddProtocolSlots(slots);
    AddBufferSlots(slots);
    slots.push_back({0, nullptr});
    PyType_Spec spec = {"chainerx.ndarray", sizeof(NdArray), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC,
                        slots.data()};
    g_ndarray_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (g_ndarray_type == nullptr) throw PythonError{};
    // Set before the type is used: it makes NumPy leave operators with our arrays to us.
    PyObject* dict = g_ndarray_type->tp_dict;
    PyDict_SetItemString(dict, "__array_ufunc__", Py_None);
    PyObject* priority = PyFloat_FromDouble(100.0);
    PyDict_SetItemString(dict, "__array_priority__", priority);
    Py_DECREF(priority);
    PyType_Modified(g_ndarray_type);
    if (PyModule_AddObjectRef(module, "ndarray", reinterpret_cast<PyObject*>(g_ndarray_type)) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python
