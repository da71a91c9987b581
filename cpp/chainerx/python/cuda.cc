// Streams, events and memory of NVIDIA's GPUs: chainerx.cuda. The plug-in is reached through the
// interface in cuda/gpu.h.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/blocking.h"
#include "chainerx/core/context.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/gpu.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace chainerx::python {
namespace {

using cuda::Event;
using cuda::Gpu;
using cuda::GpuOf;

// None: the default device if it is a GPU, else the first one.
Device& ToGpuDevice(nb::handle device) {
    if (!device.is_none()) {
        Device& found = ToDevice(device.ptr());
        GpuOf(found);
        return found;
    }
    Device& found = GetDefaultDevice();
    if (dynamic_cast<Gpu*>(&found) != nullptr) return found;
    return GetDefaultContext().GetDevice("cuda", 0);
}

class PyStream {
 public:
    // `is_taken`: it is given back in the end.
    PyStream(Stream& stream, bool is_taken) : stream_{stream}, is_taken_{is_taken} {}
    ~PyStream() {
        if (is_taken_) gpu().GiveStreamBack(stream_);
    }
    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    Stream& stream() const { return stream_; }
    Device& device() const { return stream_.device(); }
    Gpu& gpu() const { return GpuOf(device()); }

    // `self` is this object, which stays until it is left: a scope can't end on another thread.
    void Enter(nb::object self) {
        scopes_.push_back(
            {internal::GetThreadToken(), std::make_unique<StreamScope>(stream_), std::move(self)});
    }
    // Several threads may have entered it.
    void Exit() {
        const uint64_t thread = internal::GetThreadToken();
        for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it) {
            if (it->thread != thread) continue;
            scopes_.erase(std::next(it).base());
            return;
        }
        throw ChainerxError{"Stream: left but not entered"};
    }

 private:
    struct Scope {
        uint64_t thread;
        std::unique_ptr<StreamScope> scope;
        nb::object self;
    };

    Stream& stream_;
    bool is_taken_;
    std::vector<Scope> scopes_;
};

Stream& ToStream(nb::handle stream, Device& device) {
    if (stream.is_none()) return *GetCurrentStream(device);
    PyStream* found = nullptr;
    if (nb::try_cast(stream, found) && found != nullptr) return found->stream();
    throw TypeError{"stream is a ", Py_TYPE(stream.ptr())->tp_name,
                    ", expected a chainerx.cuda.Stream"};
}

void* ToHandle(nb::handle number) {
    void* handle = PyLong_AsVoidPtr(number.ptr());
    if (handle == nullptr && PyErr_Occurred() != nullptr) throw nb::python_error();
    return handle;
}

nb::object FromHandle(void* handle) { return nb::steal(PyLong_FromVoidPtr(handle)); }

void BindStream(nb::module_& m) {
    nb::class_<PyStream>(
        m, "Stream",
        "A queue of work of a GPU. Work of one stream runs in its order, and beside that of "
        "others.\n\n"
        "It is also a context manager, in which this thread allocates and computes on it.\n\n"
        "Args:\n"
        "    device (str or Device): Default: the default device, if it is a GPU, else cuda:0.\n"
        "    priority (int): Lower numbers are more urgent; clipped to the range of the device.")
        .def(
            "__init__",
            [](PyStream* self, nb::handle device, int priority) {
                new (self) PyStream{GpuOf(ToGpuDevice(device)).TakeStream(priority), true};
            },
            nb::arg("device") = nb::none(), nb::kw_only(), nb::arg("priority") = 0,
            nb::sig("def __init__(self, device: str | Device | None = None, *, priority: int = 0) "
                    "-> None"))
        .def_static(
            "from_ptr",
            [](nb::handle ptr, nb::handle device) {
                Gpu& gpu = GpuOf(ToGpuDevice(device));
                return new PyStream{gpu.WrapStream(ToHandle(ptr)), true};
            },
            nb::arg("ptr"), nb::arg("device") = nb::none(),
            nb::sig("def from_ptr(ptr: int, device: str | Device | None = None) -> Stream"),
            "The stream that another library made. It must live longer than all arrays that are "
            "used on it.\n\n"
            "Args:\n"
            "    ptr (int): Its CUstream; 0 or 1 is the legacy default stream, 2 that of each "
            "thread.\n"
            "    device (str or Device): Its device.")
        .def_prop_ro("device", &PyStream::device, nb::rv_policy::reference, "The device.")
        .def_prop_ro(
            "ptr", [](PyStream& s) { return FromHandle(s.gpu().GetHandle(s.stream())); },
            nb::sig("def ptr(self) -> int"), "Its CUstream, for other libraries.")
        .def_prop_ro(
            "priority", [](PyStream& s) { return s.gpu().GetPriority(s.stream()); },
            "Its priority: lower numbers are more urgent.")
        .def(
            "synchronize", [](PyStream& s) { s.device().Synchronize(s.stream()); },
            "Waits until all work that was queued is done.\n\n"
            "Raises:\n    IndexError: If one of this thread's operations found a bad index.")
        .def(
            "query", [](PyStream& s) { return s.gpu().IsIdle(s.stream()); },
            "True if all work that was queued is done.")
        .def(
            "wait_event", [](PyStream& s, Event& e) { e.Delay(s.stream()); }, nb::arg("event"),
            "Work that is queued from now on runs after the event.")
        .def(
            "wait_stream",
            [](PyStream& s, PyStream& other) {
                Event event{other.device(), false};
                event.Record(other.stream());
                event.Delay(s.stream());
            },
            nb::arg("stream"), nb::sig("def wait_stream(self, stream: Stream) -> None"),
            "Work that is queued from now on runs after what another stream has been given so far.")
        .def(
            "record",
            [](PyStream& s, nb::handle event) {
                if (event.is_none()) {
                    Event made{s.device()};
                    made.Record(s.stream());
                    return nb::cast(std::move(made));
                }
                Event* given = nullptr;
                if (!nb::try_cast(event, given) || given == nullptr) {
                    throw TypeError{"record: event is a ", Py_TYPE(event.ptr())->tp_name,
                                    ", expected a chainerx.cuda.Event"};
                }
                given->Record(s.stream());
                return nb::borrow(event);
            },
            nb::arg("event") = nb::none(),
            nb::sig("def record(self, event: Event | None = None) -> Event"),
            "Records an event, a new one if none is given, and returns it.")
        .def(
            "__enter__",
            [](nb::object self) {
                nb::cast<PyStream&>(self).Enter(self);
                return self;
            },
            nb::sig("def __enter__(self) -> Stream"))
        .def("__exit__", [](PyStream& s, nb::args) { s.Exit(); })
        .def(
            "__eq__",
            [](PyStream& s, nb::handle other) {
                PyStream* o = nullptr;
                return nb::try_cast(other, o) && o != nullptr && &o->stream() == &s.stream();
            },
            nb::arg("other"), nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def("__hash__", [](PyStream& s) { return reinterpret_cast<intptr_t>(&s.stream()); })
        .def("__repr__",
             [](PyStream& s) {
                 const auto number = reinterpret_cast<uintptr_t>(s.gpu().GetHandle(s.stream()));
                 char text[24];
                 std::snprintf(text, sizeof(text), "0x%zx", size_t{number});
                 return StrCat("<chainerx.cuda.Stream ", text, " of ", s.device().name(), ">");
             })
        .def("__reduce__", &RefuseCopies);
}

void BindEvent(nb::module_& m) {
    nb::class_<Event>(m, "Event",
                      "A point in the work of a stream.\n\n"
                      "Args:\n"
                      "    device (str or Device): Default: the default device, if it is a GPU, "
                      "else cuda:0.\n"
                      "    timing (bool): Whether it has a time; events without cost less.")
        .def(
            "__init__",
            [](Event* self, nb::handle device, bool timing) {
                new (self) Event{ToGpuDevice(device), timing};
            },
            nb::arg("device") = nb::none(), nb::kw_only(), nb::arg("timing") = true,
            nb::sig("def __init__(self, device: str | Device | None = None, *, timing: bool = "
                    "True) -> None"))
        .def_prop_ro("device", &Event::device, nb::rv_policy::reference, "The device.")
        .def_prop_ro(
            "ptr", [](Event& e) { return FromHandle(e.handle()); }, nb::sig("def ptr(self) -> int"),
            "Its CUevent, for other libraries.")
        .def(
            "record", [](Event& e, nb::handle stream) { e.Record(ToStream(stream, e.device())); },
            nb::arg("stream") = nb::none(),
            nb::sig("def record(self, stream: Stream | None = None) -> None"),
            "Moves the event to the present end of a stream, of the current one by default.")
        .def("query", &Event::IsDone, "True if the work before it is done, or it is not recorded.")
        .def(
            "synchronize",
            [](Event& e) {
                const internal::BlockingScope blocking;
                e.Synchronize();
            },
            "Waits until the work before it is done. Errors of kernels stay for the next "
            "synchronization of a device or stream.")
        .def("elapsed_time", &Event::GetMillisecondsTo, nb::arg("end"),
             "Milliseconds from this event to a later one.\n\n"
             "Raises:\n"
             "    ChainerxError: If one of them is not done.\n"
             "    ValueError: If one of them was created without timing.")
        .def("__reduce__", &RefuseCopies);
}

void BindMemory(nb::module_& m) {
    m.def(
        "set_memory_limit",
        [](nb::handle nbytes, nb::handle device) {
            const int64_t limit =
                nbytes.is_none() ? -1 : ToInt("set_memory_limit", "nbytes", nbytes.ptr());
            if (limit < 0 && !nbytes.is_none()) {
                throw ValueError{"set_memory_limit: nbytes is ", limit, ", expected at least 0"};
            }
            GpuOf(ToGpuDevice(device)).SetMemoryLimit(limit);
        },
        nb::arg("nbytes").none(), nb::arg("device") = nb::none(),
        nb::sig("def set_memory_limit(nbytes: int | None, device: str | Device | None = None) -> "
                "None"),
        "Limits the memory that a GPU gives to arrays, used and cached together.\n\n"
        "Args:\n"
        "    nbytes (int): Bytes; None means no limit. What is in use beyond it stays.\n"
        "    device (str or Device): The GPU.");
    m.def(
        "get_memory_limit",
        [](nb::handle device) -> nb::object {
            const int64_t limit = GpuOf(ToGpuDevice(device)).GetMemoryLimit();
            return limit < 0 ? nb::object{nb::none()} : nb::object{nb::int_(limit)};
        },
        nb::arg("device") = nb::none(),
        nb::sig("def get_memory_limit(device: str | Device | None = None) -> int | None"),
        "The limit that set_memory_limit() has set.\n\n"
        "Args:\n"
        "    device (str or Device): The GPU.\n"
        "Returns:\n"
        "    int: Bytes; None if there is no limit.");
    m.def(
        "empty_cache",
        [](nb::handle device) {
            Gpu& gpu = GpuOf(ToGpuDevice(device));
            const internal::BlockingScope blocking;
            gpu.ReleaseCachedMemory();
        },
        nb::arg("device") = nb::none(),
        nb::sig("def empty_cache(device: str | Device | None = None) -> None"),
        "Gives unused memory back to the driver, that of the GPU and the pinned one. Waits for "
        "what still runs.\n\n"
        "Args:\n"
        "    device (str or Device): The GPU.");
    m.def(
        "mem_info", [](nb::handle device) { return GpuOf(ToGpuDevice(device)).GetFreeAndTotal(); },
        nb::arg("device") = nb::none(),
        nb::sig("def mem_info(device: str | Device | None = None) -> tuple[int, int]"),
        "The memory of a GPU, whoever uses it.\n\n"
        "Args:\n"
        "    device (str or Device): The GPU.\n"
        "Returns:\n"
        "    tuple of int: Bytes that are free, and all.");
    m.def(
        "empty_pinned",
        [](nb::handle shape, nb::handle dtype, nb::handle device) {
            Gpu& gpu = GpuOf(ToGpuDevice(device));
            return nb::steal(Wrap(gpu.EmptyPinned(ToShape("empty_pinned", "shape", shape.ptr()),
                                                  ToDtypeOr(dtype.ptr(), Dtype::kFloat32))));
        },
        nb::arg("shape"), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
        nb::sig("def empty_pinned(shape: int | Sequence[int], dtype: Any = None, device: str | "
                "Device | None = None) -> ndarray"),
        "An array of native:0 in page-locked memory, with any values: GPUs copy from it and to it "
        "by themselves.\n\n"
        "Args:\n"
        "    shape (tuple of ints): Its shape.\n"
        "    dtype: Its dtype, float32 by default.\n"
        "    device (str or Device): Any GPU of the driver that locks it.\n"
        "Returns:\n"
        "    ndarray: ``numpy.asarray`` shares its memory.");
    m.def(
        "is_pinned",
        [](nb::handle x, nb::handle device) {
            return GpuOf(ToGpuDevice(device)).IsPinned(ToArray("is_pinned", "x", x.ptr()));
        },
        nb::arg("x"), nb::arg("device") = nb::none(),
        nb::sig("def is_pinned(x: ndarray, device: str | Device | None = None) -> bool"),
        "Whether an array is in page-locked memory of the host.\n\n"
        "Args:\n"
        "    x (ndarray): Any array.\n"
        "    device (str or Device): Any GPU of the driver that locked it.\n"
        "Returns:\n"
        "    bool: True if it is.");
    m.def(
        "copy_async",
        [](nb::handle src, nb::handle dst) {
            const Array& from = ToArray("copy_async", "src", src.ptr());
            const Array& to = ToArray("copy_async", "dst", dst.ptr());
            if (!to.IsWritable()) throw ValueError{"copy_async: dst is read-only"};
            Device& device =
                dynamic_cast<Gpu*>(&from.device()) != nullptr ? from.device() : to.device();
            GpuOf(device).CopyAsync(from, to);
        },
        nb::arg("src"), nb::arg("dst"),
        nb::sig("def copy_async(src: ndarray, dst: ndarray) -> None"),
        "Queues a copy between the host and a GPU, or two GPUs, to their current streams.\n\n"
        "Of the host's, with memory of :func:`empty_pinned` it returns at once: until the stream "
        "has passed it, "
        "the host must not write ``src`` or read ``dst``. With other memory it waits. Graphs see "
        "nothing of it.\n\n"
        "Args:\n"
        "    src (ndarray): A contiguous array, of the host or a GPU.\n"
        "    dst (ndarray): Another one, of the other side, with the same shape and dtype.");
}

void BindCollectives(nb::module_& m) {
    m.def(
        "exchange",
        [](const std::string& op, nb::list given, int reduction, size_t root) {
            cuda::ArrayLists lists;
            Device* device = nullptr;
            for (nb::handle item : given) {
                auto& list = lists.emplace_back(ToArrays(op.c_str(), "arrays", item.ptr()));
                for (const Array& x : list) {
                    if (device == nullptr) device = &x.device();
                    if (x.IsWritable() || (reduction < 0 && lists.size() == root + 1)) continue;
                    throw ValueError{op, ": an array of arrays[", lists.size() - 1,
                                     "] is read-only"};
                }
            }
            if (device == nullptr) return;
            if (reduction < 0) return GpuOf(*device).Broadcast(lists, root);
            GpuOf(*device).AllReduce(lists, static_cast<cuda::Reduction>(reduction));
        },
        nb::sig("def exchange(op: str, arrays: list[list[ndarray]], reduction: int, root: int) "
                "-> None"),
        "What all_reduce(), and, if `reduction` is negative, broadcast() do.");
}

// A kernel of a text that chainerx.cuda has written, or its user.
struct PyKernel {
    std::string name;
    Device* device;
    void* kernel;
};

void BindKernel(nb::module_& m) {
    nb::class_<PyKernel>(m, "Kernel", "A kernel of CUDA C++ that a GPU has loaded.")
        .def(
            "__init__",
            [](PyKernel* self, const std::string& name, const std::string& text,
               const std::vector<std::string>& options, nb::handle device) {
                Device& gpu = ToGpuDevice(device);
                const internal::BlockingScope blocking;
                new (self) PyKernel{name, &gpu, GpuOf(gpu).GetKernel(name, text, options)};
            },
            nb::arg("name"), nb::arg("text"), nb::arg("options"), nb::arg("device"),
            nb::sig("def __init__(self, name: str, text: str, options: Sequence[str], device: str "
                    "| Device | None) -> None"))
        .def(
            "launch",
            [](const PyKernel& self, const std::array<unsigned, 3>& blocks,
               const std::array<unsigned, 3>& threads, unsigned shared, nb::bytes params,
               nb::list arrays, size_t outputs) {
                std::vector<const Array*> used;
                for (nb::handle x : arrays) {
                    used.push_back(&ToArray("launch", "arrays", x.ptr()));
                    CheckSameDevice("launch", *self.device, used.back()->device());
                }
                for (size_t k = used.size() - std::min(outputs, used.size()); k < used.size();
                     ++k) {
                    if (!used[k]->IsWritable()) {
                        throw ValueError{self.name, ": an output is read-only"};
                    }
                    used[k]->buffer()->MarkWritten();
                }
                cuda::KernelGrid grid{};
                std::ranges::copy(blocks, grid.blocks);
                std::ranges::copy(threads, grid.threads);
                grid.shared_bytes = shared;
                GpuOf(*self.device)
                    .LaunchKernel(self.kernel, grid, params.c_str(), params.size(), used);
            },
            nb::arg("blocks"), nb::arg("threads"), nb::arg("shared"), nb::arg("params"),
            nb::arg("arrays"), nb::arg("outputs"),
            nb::sig("def launch(self, blocks: tuple[int, int, int], threads: tuple[int, int, int], "
                    "shared: int, params: bytes, arrays: list[ndarray], outputs: int) -> None"),
            "Queues it to the current stream.\n\n"
            "Args:\n"
            "    blocks (tuple of ints): The grid.\n"
            "    threads (tuple of ints): Of a block.\n"
            "    shared (int): Bytes of dynamic shared memory.\n"
            "    params (bytes): The parameters, laid out as a struct.\n"
            "    arrays (list): Those whose memory it uses.\n"
            "    outputs (int): How many of the last ones it writes.")
        .def("__reduce__", &RefuseCopies);
}

// Called with the GIL; null if there is none.
PyObject* g_access_hook = nullptr;

void CallAccessHook(const Device& device, HostAccess access, int64_t nbytes) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire gil;
    if (g_access_hook == nullptr || PyErr_Occurred() != nullptr) return;
    constexpr const char* kNames[] = {"wait", "read", "write"};
    try {
        nb::borrow(g_access_hook)(device.name(), kNames[static_cast<int>(access)], nbytes);
    } catch (nb::python_error& e) {
        if (e.matches(PyExc_KeyboardInterrupt)) {
            PyErr_SetInterrupt();  // comes again, where it can be raised
            return;
        }
        e.discard_as_unraisable("a hook on accesses of the host");
    }
}

}  // namespace

void InitCuda(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module).def_submodule(
        "_cuda", "Streams, events and memory of NVIDIA's GPUs.");
    BindStream(m);
    BindEvent(m);
    BindCollectives(m);
    BindMemory(m);
    BindKernel(m);
    m.def(
        "_set_access_hook",
        [](nb::object hook) {
            SetHostAccessHook(hook.is_none() ? nullptr : &CallAccessHook);
            PyObject* old = g_access_hook;
            g_access_hook = hook.is_none() ? nullptr : hook.release().ptr();
            Py_XDECREF(old);
        },
        nb::arg("hook").none(),
        nb::sig("def _set_access_hook(hook: Callable[[str, str, int], None] | None) -> None"),
        "Sets a function that is called when the host waits for an asynchronous device ('wait'), "
        "reads its memory ('read'), or copies pageable memory to it ('write'): with the name of "
        "the device, this word, and the number of bytes. None ends it.");
    m.def(
        "current_stream",
        [](nb::handle device) {
            return new PyStream{*GetCurrentStream(ToGpuDevice(device)), false};
        },
        nb::arg("device") = nb::none(),
        nb::sig("def current_stream(device: str | Device | None = None) -> Stream"),
        "The stream on which this thread computes on a GPU.\n\n"
        "Args:\n"
        "    device (str or Device): The GPU; by default the default device, or cuda:0.\n"
        "Returns:\n"
        "    Stream: That of the innermost ``with`` statement, or the default one.");
    m.def(
        "synchronize", [](nb::handle device) { ToGpuDevice(device).Synchronize(); },
        nb::arg("device") = nb::none(),
        nb::sig("def synchronize(device: str | Device | None = None) -> None"),
        "Waits for all work of all streams of a GPU.\n\n"
        "Args:\n"
        "    device (str or Device): The GPU; by default the default device, or cuda:0.\n"
        "Raises:\n"
        "    IndexError: If one of this thread's operations found a bad index.");
}

}  // namespace chainerx::python
