// DLPack, the protocol by which array libraries share memory: https://dmlc.github.io/dlpack.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "chainerx/core/backend.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/foreign.h"
#include "chainerx/ops/shape/bool_bytes.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/interop/cuda_order.h"
#include "chainerx/python/interop/deferred.h"

namespace chainerx::python {
namespace {

// ---- the binary interface of the protocol -------------------------------------------------------

struct DLDevice {
    int32_t device_type;
    int32_t device_id;
};

struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct DLTensor {
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides;  // in elements; null: contiguous
    uint64_t byte_offset;
};

struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
};

struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    uint64_t flags;
    DLTensor dl_tensor;
};

constexpr int32_t kCpu = 1;
constexpr int32_t kCuda = 2;
constexpr int32_t kCudaHost = 3;
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;
constexpr DLPackVersion kVersion{1, 0};

enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

template <typename Managed>
constexpr const char* kName = "dltensor";
template <>
constexpr const char* kName<DLManagedTensorVersioned> = "dltensor_versioned";
template <typename Managed>
constexpr const char* kUsedName = "used_dltensor";
template <>
constexpr const char* kUsedName<DLManagedTensorVersioned> = "used_dltensor_versioned";

// ---- shared by both directions ------------------------------------------------------------------

template <typename... Args>
[[noreturn]] CX_COLD void ThrowBufferError(const Args&... args) {
    PyErr_SetString(PyExc_BufferError, StrCat(args...).c_str());
    throw PythonError{};
}

DLDataType ToDlDtype(Dtype dtype) {
    Code code = kFloat;
    if (dtype == Dtype::kBFloat16) {
        code = kBFloat;
    } else {
        switch (GetInfo(dtype).kind) {
            case DtypeKind::kBool:
                code = kBool;
                break;
            case DtypeKind::kInt:
                code = kInt;
                break;
            case DtypeKind::kUInt:
                code = kUInt;
                break;
            case DtypeKind::kFloat:
                code = kFloat;
                break;
            case DtypeKind::kComplex:
                code = kComplex;
                break;
        }
    }
    return {code, static_cast<uint8_t>(GetItemSize(dtype) * 8), 1};
}

Dtype FromDlDtype(const DLDataType& d) {
    for (int i = 0; i < kNumDtypes; ++i) {
        const auto dtype = static_cast<Dtype>(i);
        const DLDataType ours = ToDlDtype(dtype);
        if (ours.code == d.code && ours.bits == d.bits && ours.lanes == d.lanes) return dtype;
    }
    throw DtypeError{"from_dlpack: there is no dtype for elements of code ",
                     static_cast<int>(d.code),
                     " with ",
                     static_cast<int>(d.bits),
                     " bits and ",
                     static_cast<int>(d.lanes),
                     " lanes"};
}

DLDevice ToDlDevice(const Device& device) {
    const std::string& name = device.backend()->name();
    if (name == "native") return {kCpu, 0};
    if (name == "cuda") return {kCuda, device.index()};
    ThrowBufferError("__dlpack__: the backend ", name, " of ", device.name(),
                     " has no device of DLPack's; use to_device('native')");
}

Device& FromDlDevice(const DLDevice& d) {
    Context& context = GetDefaultContext();
    if (d.device_type == kCpu || d.device_type == kCudaHost) {
        Device& device = GetDefaultDevice();
        return device.backend() == &context.GetNativeBackend() ? device
                                                               : context.GetDevice("native", 0);
    }
    if (d.device_type == kCuda) return context.GetDevice("cuda", d.device_id);
    ThrowBufferError("from_dlpack: the array is on a device of type ", d.device_type,
                     ", expected one of the CPU (1) or CUDA (2)");
}

// ---- export -------------------------------------------------------------------------------------

// One block per capsule: the exported struct, and the owner of the memory.
template <typename Managed>
struct Export {
    Managed managed{};
    Array array;
    bool waits{false};  // for all streams of the device, in the end
    int64_t shape[kMaxNdim]{};
    int64_t strides[kMaxNdim]{};

    // The consumer may call this on any thread; it does not need Python.
    static void Delete(Managed* managed) {
        auto* self = static_cast<Export*>(managed->manager_ctx);
        if (self->waits) WaitForAllStreams(self->array.device());
        delete self;
    }
};

// Destroys a capsule that was not consumed.
template <typename Managed>
void DestroyCapsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, kName<Managed>) == 0) return;
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
    managed->deleter(managed);
}

template <typename Managed>
PyObject* MakeCapsule(const Array& x, bool copied, bool waits) {
    auto* out = new Export<Managed>{.array = internal::Detached(x), .waits = waits};
    Managed& managed = out->managed;
    x.buffer()->MarkShared();
    managed.manager_ctx = out;
    managed.deleter = &Export<Managed>::Delete;
    if constexpr (requires { managed.flags; }) {
        managed.version = kVersion;
        managed.flags = (x.IsWritable() ? 0 : kReadOnly) | (copied ? kIsCopied : 0);
    }
    for (int8_t i = 0; i < x.ndim(); ++i) {
        out->shape[i] = x.shape()[i];
        out->strides[i] = x.strides()[i] / x.GetItemSize();
    }
    managed.dl_tensor = {x.raw_data(), ToDlDevice(x.device()), x.ndim(), ToDlDtype(x.dtype()),
                         out->shape,   out->strides,           0};
    PyObject* capsule = PyCapsule_New(&managed, kName<Managed>, &DestroyCapsule<Managed>);
    if (capsule == nullptr) delete out;
    return capsule;
}

// Clips to 32 bits: a clipped version is newer than any, a clipped device does not exist.
int32_t ToPart(const char* op, const char* name, PyObject* o) {
    using Limits = std::numeric_limits<int32_t>;
    return static_cast<int32_t>(
        std::clamp<int64_t>(ToInt(op, name, o), Limits::min(), Limits::max()));
}

// Parses a tuple of two integers, as the protocol passes.
DLDevice ToPair(const char* op, const char* name, PyObject* o) {
    if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) != 2) {
        throw TypeError{
            op, ": ", name, " is a ", Py_TYPE(o)->tp_name, ", expected a tuple of two integers"};
    }
    return {ToPart(op, name, PyTuple_GET_ITEM(o, 0)), ToPart(op, name, PyTuple_GET_ITEM(o, 1))};
}

// The stream of the consumer: None is the legacy default stream, -1 none that need wait.
std::optional<uintptr_t> ToConsumerStream(PyObject* stream) {
    const int64_t number = Given(stream) ? ToInt("__dlpack__", "stream", stream) : 1;
    if (number == -1) return std::nullopt;
    if (number <= 0) {
        ThrowBufferError("__dlpack__: stream is ", number,
                         ", expected -1 (no order), 1 (the legacy default stream), 2 (that of each "
                         "thread), or an address");
    }
    return static_cast<uintptr_t>(number);
}

// Lets the consumer use the array on its stream. Returns whether all streams must be waited for
// before the memory is used again.
bool OrderConsumer(const Array& x, PyObject* stream) {
    if (!HasCudaStreams(x.device())) {
        x.device().Synchronize();
        return false;
    }
    const std::optional<uintptr_t> consumer = ToConsumerStream(stream);
    if (consumer) OrderOthersAfterUs(x.device(), *consumer);
    return !KeepForOthers(x, consumer.value_or(kLegacyStream));
}

bool IsMultipleOfItems(const Array& x) {
    for (int64_t s : x.strides()) {
        if (s % x.GetItemSize() != 0) return false;
    }
    return true;
}

CX_METHOD(__dlpack_device__, ") -> tuple[int, int]",
          "The device in DLPack's numbering: (1, 0) for the CPU, (2, n) for cuda:n.") {
    const DLDevice d = ToDlDevice(Self(self).device());
    return Py_BuildValue("(ii)", d.device_type, d.device_id);
}

CX_METHOD(__dlpack__,
          "*, stream: int | None = None, max_version: tuple[int, int] | None = None, "
          "dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any",
          "Exports the array through the DLPack protocol, without a copy. Gradients and graph are "
          "not exported.\n\n"
          "Raises:\n"
          "    BufferError: If the array can't be shared as requested.") {
    const Array& x = Self(self);
    internal::CheckMayRead("the memory of an array is handed out");
    const bool asked_for_copy = ToBool(a[3], false);
    const bool may_copy = !Given(a[3]) || asked_for_copy;
    bool copied = asked_for_copy;
    const bool on_host = x.device().backend()->name() == "native";
    if (Given(a[0]) && on_host) {
        ThrowBufferError("__dlpack__: stream is given, but ", x.device().name(), " has none");
    }
    const DLDevice here = ToDlDevice(x.device());
    Array given = copied ? Copy(internal::Detached(x)) : x;
    const DLDevice there = Given(a[2]) ? ToPair("__dlpack__", "dl_device", a[2]) : here;
    if (there.device_type != here.device_type || there.device_id != here.device_id) {
        if (there.device_type != kCpu || !may_copy) {
            ThrowBufferError("__dlpack__: the array is on ", x.device().name(),
                             ", it can't be had on device (", there.device_type, ", ",
                             there.device_id, ")", may_copy ? "" : " without a copy");
        }
        given = internal::Detached(x).ToDevice(x.context().GetNativeBackend().GetDevice(0));
        copied = true;
    }
    if (!IsMultipleOfItems(given)) {
        if (!may_copy) ThrowBufferError("__dlpack__: strides are no multiples of the element size");
        given = Copy(internal::Detached(given));
        copied = true;
    }
    const bool waits = OrderConsumer(given, a[0]);
    // A version is a tuple of two integers, too: major, minor.
    if (Given(a[1]) && ToPair("__dlpack__", "max_version", a[1]).device_type >= 1) {
        return MakeCapsule<DLManagedTensorVersioned>(given, copied, waits);
    }
    if (!given.IsWritable()) {
        ThrowBufferError(
            "__dlpack__: the memory is read-only, which version 0 of the protocol "
            "can't say; ask with max_version=(1, 0) or copy=True");
    }
    return MakeCapsule<DLManagedTensor>(given, copied, waits);
}

// ---- import -------------------------------------------------------------------------------------

template <typename Managed>
void Release(void* owner) {
    // The deleter belongs to another library, and may use Python.
    ReleaseWithGil(owner, [](void* o) {
        auto* managed = static_cast<Managed*>(o);
        if (managed->deleter == nullptr) return;
        // Saves a pending Python error, which the deleter would take for its own.
        SavedError error;
        managed->deleter(managed);
        error.Restore();
    });
}

// Throws if the fields of a tensor are invalid. Whether its address points to memory can't be
// checked.
void CheckTensor(const DLTensor& t) {
    if (t.ndim < 0) ThrowBufferError("from_dlpack: the capsule has ", t.ndim, " dimensions");
    if (t.ndim > kMaxNdim) {
        throw DimensionError{"from_dlpack: too many dimensions: ", t.ndim, ", the maximum is ",
                             static_cast<int>(kMaxNdim)};
    }
    if (t.shape == nullptr && t.ndim != 0) {
        ThrowBufferError("from_dlpack: the capsule has ", t.ndim, " dimensions and no shape");
    }
    const bool is_empty = std::any_of(t.shape, t.shape + t.ndim, [](int64_t n) { return n == 0; });
    if (t.data == nullptr && !is_empty) {
        ThrowBufferError("from_dlpack: the capsule has elements, and its address is null");
    }
}

// Strides in bytes. All elements must have a representable address.
Strides StridesOf(const DLTensor& t, const Shape& shape, int64_t item_size) {
    if (t.strides == nullptr) return {shape, item_size};
    Strides strides;
    for (int32_t i = 0; i < t.ndim; ++i) {
        int64_t bytes = 0;
        int64_t reach = 0;
        if (__builtin_mul_overflow(t.strides[i], item_size, &bytes) ||
            __builtin_mul_overflow(bytes, shape[i], &reach)) {
            ThrowBufferError("from_dlpack: strides[", i, "] is ", t.strides[i],
                             " elements, too large to address");
        }
        strides.push_back(bytes);
    }
    return strides;
}

// Memory that the driver does not know is left to the producer.
void CheckGpu(Device& device, const void* data) {
    const int index = FindGpu(device, data);
    if (index < 0 || index == device.index()) return;
    ThrowBufferError("from_dlpack: the memory is of cuda:", index, ", not of ", device.name());
}

template <typename Managed>
Array Take(PyObject* capsule) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
    if (managed == nullptr) throw PythonError{};
    bool writable = true;
    if constexpr (requires { managed->flags; }) {
        if (managed->version.major != kVersion.major) {
            ThrowBufferError("from_dlpack: the capsule is of version ", managed->version.major,
                             " of the protocol, expected ", kVersion.major);
        }
        writable = (managed->flags & kReadOnly) == 0;
    }
    const DLTensor& t = managed->dl_tensor;
    CheckTensor(t);
    const Dtype dtype = FromDlDtype(t.dtype);
    Device& device = FromDlDevice(t.device);
    if (HasCudaStreams(device) && t.data != nullptr) CheckGpu(device, t.data);
    const Shape shape{t.shape, t.shape + t.ndim};
    CheckedNBytes("from_dlpack", shape, GetItemSize(dtype));
    const Strides strides = StridesOf(t, shape, GetItemSize(dtype));
    // From here on we own the memory.
    if (PyCapsule_SetName(capsule, kUsedName<Managed>) < 0) throw PythonError{};
    Array x = internal::WrapForeign(static_cast<char*>(t.data) + t.byte_offset, shape, strides,
                                    dtype, device,
                                    ReleaseInOrder(device, {managed, &Release<Managed>}), writable);
    if (!internal::IsAligned(x)) {
        ThrowBufferError("from_dlpack: the memory is not aligned to elements of ", dtype);
    }
    return x;
}

Array TakeCapsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, kName<DLManagedTensorVersioned>) != 0) {
        return Take<DLManagedTensorVersioned>(capsule);
    }
    if (PyCapsule_IsValid(capsule, kName<DLManagedTensor>) != 0) {
        return Take<DLManagedTensor>(capsule);
    }
    if (!PyCapsule_CheckExact(capsule)) {
        throw TypeError{"from_dlpack: x.__dlpack__() is a ", Py_TYPE(capsule)->tp_name,
                        ", expected a capsule"};
    }
    const char* name = PyCapsule_GetName(capsule);
    ThrowBufferError("from_dlpack: the capsule is named ", name != nullptr ? name : "(null)",
                     ", expected dltensor or dltensor_versioned; it can be taken once only");
}

// Calls x.__dlpack__() with the arguments that it supports.
Ref AskForCapsule(PyObject* x, bool never_copy) {
    const Ref method = Check(PyObject_GetAttrString(x, "__dlpack__"));
    const Ref none = Check(PyTuple_New(0));
    const Ref keywords =
        Check(Py_BuildValue("{s:(ii)}", "max_version", kVersion.major, kVersion.minor));
    if (never_copy && PyDict_SetItemString(keywords.get(), "copy", Py_False) < 0) {
        throw PythonError{};
    }
    if (PyObject_HasAttrString(x, "__dlpack_device__")) {
        const Ref device = Check(PyObject_CallMethod(x, "__dlpack_device__", nullptr));
        const DLDevice there = ToPair("from_dlpack", "x.__dlpack_device__()", device.get());
        if (there.device_type == kCuda) {
            Device& device = FromDlDevice(there);
            const Ref stream = Check(PyLong_FromSize_t(
                HasCudaStreams(device) ? CurrentCudaStream(device) : kLegacyStream));
            if (PyDict_SetItemString(keywords.get(), "stream", stream.get()) < 0) {
                throw PythonError{};
            }
        }
    }
    PyObject* capsule = PyObject_Call(method.get(), none.get(), keywords.get());
    if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        // The producer was written before version 1 of the protocol.
        PyErr_Clear();
        PyDict_DelItemString(keywords.get(), "max_version");
        if (never_copy) PyDict_DelItemString(keywords.get(), "copy");
        capsule = PyObject_Call(method.get(), none.get(), keywords.get());
    }
    return Check(capsule);
}

CX_ROUTINE(from_dlpack,
           "x: Any, *, device: DeviceLike | None = None, copy: bool | None = None) -> ndarray",
           "Imports an array of another library (PyTorch, NumPy, CuPy, JAX, ...) through the "
           "DLPack protocol.\n\n"
           "Args:\n"
           "    x: An object with a method ``__dlpack__``, or a capsule returned by one.\n"
           "    device: Default: where the memory is.\n"
           "    copy (bool): None copies only if ``device`` differs, False never, True always.\n"
           "Returns:\n"
           "    ndarray: In no graph. Read-only if the memory is.\n"
           "Raises:\n"
           "    BufferError: If it is on an unsupported kind of device, is a used capsule, or is "
           "not aligned.\n"
           "    DtypeError: If there is no such dtype.\n"
           "    ValueError: If ``copy`` is False and a copy is needed, or shared bools have bytes "
           "other than 0 and 1.") {
    ReleaseDeferred();
    const bool is_capsule = PyCapsule_CheckExact(a[0]) != 0;
    if (!is_capsule && !PyObject_HasAttrString(a[0], "__dlpack__")) {
        throw TypeError{"from_dlpack: x is a ", Py_TYPE(a[0])->tp_name,
                        ", expected an object with __dlpack__ or a capsule of it"};
    }
    // A captured step has to find out whether NumPy has moved it.
    const bool is_watched =
        internal::CurrentCapture() != nullptr && PyObject_TypeCheck(a[0], Numpy().ndarray);
    const Array x =
        is_watched ? FromNumpy(a[0], std::nullopt, Sharing::kWherePossible,
                               GetDefaultContext().GetNativeBackend().GetDevice(0))
                   : TakeCapsule(is_capsule ? a[0] : AskForCapsule(a[0], a[2] == Py_False).get());
    // Who made a capsule by itself has ordered it to the default stream.
    if (is_capsule && HasCudaStreams(x.device())) OrderUsAfterOthers(x.device(), kLegacyStream);
    Device& device = ToDeviceOr(a[1], x.device());
    const bool moves = &device != &x.device();
    if (moves && a[2] == Py_False) {
        throw ValueError{"from_dlpack: copy is False, but the memory is on ", x.device().name(),
                         " and device is ", device.name()};
    }
    const bool copies = moves || a[2] == Py_True;
    if (!copies && !internal::HasPlainBools(x)) {
        throw ValueError{"from_dlpack: the memory of the bool array of shape ", x.shape(),
                         " holds bytes other than 0 and 1, so it can't be shared; pass copy=True"};
    }
    const Array own = copies && (!moves || IsBool(x.dtype())) ? internal::CopyPlain(x) : x;
    return Wrap(moves ? own.ToDevice(device) : own);
}

}  // namespace
}  // namespace chainerx::python
