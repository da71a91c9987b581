// Both directions go through CuPy's own description of its memory (`cupy.cuda.MemoryPointer`); see
// docs/internals/chainer_engine.md for why not through DLPack.
#include "chainerx/python/engine/cupy.h"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/foreign.h"
#include "chainerx/core/stream.h"
#include "chainerx/cuda/gpu.h"
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

// A stream of CuPy, which is not destroyed meanwhile.
class CupyStream {
 public:
    CupyStream(Device& device, Ref object, void* handle)
        : object_{std::move(object)},
          handle_{handle},
          stream_{cuda::GpuOf(device).WrapStream(handle)} {}
    ~CupyStream() { cuda::GpuOf(device()).GiveStreamBack(stream_); }
    CupyStream(const CupyStream&) = delete;
    CupyStream& operator=(const CupyStream&) = delete;

    Device& device() const { return stream_.device(); }
    Stream& stream() const { return stream_; }
    void* handle() const { return handle_; }
    // Whether CuPy's object is in use elsewhere.
    bool is_shared() const { return Py_REFCNT(object_.get()) > 1; }

 private:
    Ref object_;
    void* handle_;
    Stream& stream_;
};
using SharedStream = std::shared_ptr<CupyStream>;

// With the GIL held, and never destroyed, since Python ends before: the streams that were current,
// and the devices of CuPy arrays.
auto& g_streams = *new std::vector<SharedStream>;
auto& g_devices = *new std::vector<Device*>;

// Lets streams go that nobody else has any more.
void ForgetStreams() {
    std::vector<SharedStream> gone;  // deallocations may run code of the user
    const auto is_unused = [](const SharedStream& s) {
        return s.use_count() == 1 && !s->is_shared();
    };
    for (SharedStream& s : g_streams) {
        if (is_unused(s)) gone.push_back(std::move(s));
    }
    std::erase(g_streams, nullptr);
}

// The stream of CuPy on which this thread computes on a device.
SharedStream CurrentStream(Device& device) {
    Ref object = Check(PyObject_CallFunction(g_stream, "i", device.index()));
    void* handle = ToAddress(Attribute(object.get(), "ptr").get());
    const auto it = std::ranges::find_if(g_streams, [&](const SharedStream& s) {
        return s->handle() == handle && &s->device() == &device;
    });
    if (it != g_streams.end()) return *it;
    ForgetStreams();
    return g_streams.emplace_back(std::make_shared<CupyStream>(device, std::move(object), handle));
}

void AddDevice(Device& device) {
    if (std::ranges::find(g_devices, &device) == g_devices.end()) g_devices.push_back(&device);
}

enum class Direction : uint8_t { kOursBefore, kOursAfter };

// Makes our current stream and one of CuPy's wait for what the other has been given.
void Order(const CupyStream& stream, Direction direction) {
    const auto handle = reinterpret_cast<uintptr_t>(stream.handle());
    if (direction == Direction::kOursBefore) {
        OrderOthersAfterUs(stream.device(), handle);
    } else {
        OrderUsAfterOthers(stream.device(), handle);
    }
}

// What keeps an array for CuPy: the array, and the stream that may still use it when it goes.
struct Exported {
    SharedStream stream;
    Array array;

    static void Delete(PyObject* capsule) {
        delete static_cast<Exported*>(PyCapsule_GetPointer(capsule, nullptr));
    }
};

// The owner of an array's memory while CuPy has it. Work that CuPy queues runs after ours.
Ref Export(const Array& x) {
    if (!HasCudaStreams(x.device())) return Ref{Wrap(x)};
    const CupyDeviceScope scope{x.device()};
    auto exported = std::make_unique<Exported>(CurrentStream(x.device()), x);
    Order(*exported->stream, Direction::kOursBefore);
    cuda::GpuOf(x.device()).KeepFor(x, exported->stream->stream());
    Ref owner = Check(PyCapsule_New(exported.get(), nullptr, &Exported::Delete));
    exported.release();
    return owner;
}

Array Wrapped(PyObject* array, Device& device, CupyUse use) {
    const Ref memory = Attribute(array, "data");
    const Ref shape = Attribute(array, "shape");
    const Ref strides = Attribute(array, "strides");
    const Ref dtype = Attribute(array, "dtype");
    const Ref address = Attribute(memory.get(), "ptr");
    const Dtype type = ToDtype(dtype.get());
    const auto dims = ToDims<Shape>(shape.get());
    const auto steps = ToDims<Strides>(strides.get());
    const bool is_ordered = use == CupyUse::kAnywhere && HasCudaStreams(device);
    if (HasCudaStreams(device)) AddDevice(device);
    if (is_ordered) {
        const CupyDeviceScope scope{device};
        Order(*CurrentStream(device), Direction::kOursAfter);
    }
    internal::Owner owner{Py_NewRef(array), &Release};
    if (is_ordered) owner = ReleaseInOrder(device, owner);
    return internal::WrapForeign(ToAddress(address.get()), dims, steps, type, device, owner, true);
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

Array FromCupy(const char* op, PyObject* array, CupyUse use) {
    const Ref index = Attribute(Attribute(array, "data").get(), "device_id");
    Device& device = DeviceOf(op, ToInt(op, "device", index.get()));
    Array x = Wrapped(array, device, use);
    if (internal::IsAligned(x)) return x;
    return Wrapped(Check(PyObject_CallMethod(array, "copy", nullptr)).get(), device, use);
}

PyObject* ToCupy(const Array& x) {
    if (g_cupy_ndarray == nullptr) throw ChainerxError{"to_cupy: CuPy is not there"};
    if (x.device().backend()->name() != kBackend) {
        throw DeviceError{"to_cupy: the array is on ", x.device().name(),
                          ", expected a device of the backend ", kBackend};
    }
    const Array view = internal::Detached(x);
    Buffer* buffer = view.buffer();
    buffer->MarkShared();
    const Ref owner = Export(view);
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

CupyDeviceScope::CupyDeviceScope(Device& device) {
    if (g_cupy_ndarray == nullptr || !HasCudaStreams(device)) return;
    gpu_ = &cuda::GpuOf(device);
    before_ = gpu_->EnterContext();
}

CupyDeviceScope::~CupyDeviceScope() {
    if (gpu_ != nullptr) gpu_->LeaveContext(before_);
}

struct CupyScope::Entered {
    explicit Entered(Device& device) : device{device} {}

    CupyDeviceScope device;
    std::vector<SharedStream> streams;
    std::list<StreamScope> scopes;  // left before the streams go
    bool is_both{false};
};

void CupyScope::EnterBoth() {
    if (g_devices.empty()) return;
    // By index: code of the user that runs meanwhile may add devices.
    for (size_t i = 0; i < g_devices.size(); ++i) {
        const CupyDeviceScope scope{*g_devices[i]};
        Order(*CurrentStream(*g_devices[i]), Direction::kOursBefore);
    }
    Enter();
    entered_->is_both = true;
}

void CupyScope::Enter() {
    if (g_devices.empty()) return;
    auto entered = std::make_unique<Entered>(*g_devices.front());
    for (size_t i = 0; i < g_devices.size(); ++i) {
        SharedStream stream = CurrentStream(*g_devices[i]);
        if (GetCurrentStream(*g_devices[i]) == &stream->stream()) continue;
        entered->scopes.emplace_back(stream->stream());
        entered->streams.push_back(std::move(stream));
    }
    entered_ = entered.release();
}

void CupyScope::Leave() noexcept {
    // Streams that go may run code of the user.
    PyObject* type;
    PyObject* value;
    PyObject* traceback;
    PyErr_Fetch(&type, &value, &traceback);
    entered_->scopes.clear();
    if (entered_->is_both) {
        for (const SharedStream& stream : entered_->streams) {
            try {
                Order(*stream, Direction::kOursAfter);
            } catch (const ChainerxError&) {  // of a broken context, as will be what follows
            }
        }
    }
    delete entered_;
    PyErr_Restore(type, value, traceback);
}

void InitCupy(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine
