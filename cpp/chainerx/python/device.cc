#include "chainerx/python/device.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/memory_stats.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// The device given by a Python argument: None, a str, a Device, or (backend name, index).
Device& Resolve(nb::handle device, nb::handle index) {
    if (index.is_none()) return ToDevice(device.ptr());
    return GetDefaultContext().GetDevice(
        ToString("get_device", "backend_name", device.ptr()),
        static_cast<int>(ToInt("get_device", "index", index.ptr())));
}

nb::dict MemoryStatsOf(nb::handle device) {
    const MemoryStats stats = GetMemoryStats(ToDevice(device.ptr()));
    nb::dict d;
    d["in_use"] = stats.in_use;
    d["peak_in_use"] = stats.peak_in_use;
    d["workspace"] = stats.workspace;
    d["peak_workspace"] = stats.peak_workspace;
    d["allocations"] = stats.allocations;
    d["cached"] = stats.cached;
    d["limit"] = stats.limit < 0 ? nb::object{nb::none()} : nb::object{nb::int_(stats.limit)};
    return d;
}

// Both scopes may be entered recursively.
class PyDeviceScope {
 public:
    explicit PyDeviceScope(Device& device) : device_{device} {}
    Device& device() const { return device_; }
    void Enter() {
        Device& saved = GetDefaultDevice();
        SetDefaultDevice(&device_);
        saved_.push_back(&saved);
    }
    void Exit() {
        if (saved_.empty()) throw ChainerxError{"using_device: left but not entered"};
        Device* saved = saved_.back();
        saved_.pop_back();
        SetDefaultDevice(saved);
    }

 private:
    Device& device_;
    std::vector<Device*> saved_;
};

class PyContextScope {
 public:
    explicit PyContextScope(Context& context) : context_{context} {}
    PyContextScope(const PyContextScope&) = delete;
    PyContextScope& operator=(const PyContextScope&) = delete;
    void Enter() { scopes_.push_back(std::make_unique<ContextScope>(context_)); }
    void Exit() {
        if (scopes_.empty()) throw ChainerxError{"context_scope: left but not entered"};
        scopes_.pop_back();
    }

 private:
    Context& context_;
    std::vector<std::unique_ptr<ContextScope>> scopes_;
};

void BindContext(nb::module_& m) {
    nb::class_<Context>(m, "Context",
                        "Context()\n"
                        "--\n\n"
                        "Owner of backends and backprop ids; it lives as long as the process.")
        // Never freed, since arrays refer to its devices: the object holds a reference to itself.
        .def("__init__",
             [](nb::pointer_and_handle<Context> self) {
                 new (self.p) Context;
                 self.h.inc_ref();
             })
        .def("__reduce__", &RefuseCopies)
        .def("get_backend", &Context::GetBackend, nb::rv_policy::reference, nb::arg("backend_name"),
             "A backend by name, such as 'native'; loaded if it is a plug-in.\n\n"
             "Raises:\n    BackendError: If there is none.")
        .def(
            "get_device",
            [](Context& c, nb::str name, std::optional<int> index) -> Device& {
                return index ? c.GetDevice(name.c_str(), *index) : c.GetDevice(name.c_str());
            },
            nb::rv_policy::reference, nb::arg("device"), nb::arg("index") = nb::none(),
            "A device by name, such as 'native:0', or by the name of its backend and an "
            "index.\n\n"
            "Raises:\n    BackendError: If there is no such backend.\n"
            "    IndexError: If the backend has no such device.")
        .def("make_backprop_id", &Context::MakeBackpropId, nb::arg("backprop_name"),
             "Creates an id, which must be released. chainerx.backprop_scope() does both.\n\n"
             "Raises:\n"
             "    ChainerxError: If all ids are in use.")
        .def("release_backprop_id", &Context::ReleaseBackpropId, nb::arg("backprop_id"),
             "Releases an id: its graph ends, and nothing is recorded for it any more.\n\n"
             "Raises:\n"
             "    ChainerxError: If it is the default id, or already released.")
        .def("_check_valid_backprop_id", &Context::CheckValidBackpropId, nb::arg("backprop_id"));
    nb::class_<PyContextScope>(m, "ContextScope", "See chainerx.context_scope().")
        .def("__reduce__", &RefuseCopies)
        .def(
            "__enter__",
            [](PyContextScope& s) -> PyContextScope& {
                s.Enter();
                return s;
            },
            nb::rv_policy::reference)
        .def("__exit__", [](PyContextScope& s, nb::args) { s.Exit(); });
    m.def(
        "context_scope", [](Context& c) { return new PyContextScope{c}; }, nb::arg("context"),
        "Context manager that makes a context the default of this thread.\n\n"
        "Args:\n"
        "    context (Context): The context.\n"
        "Returns:\n"
        "    ContextScope: The context manager; it is reentrant and can be nested.");
    m.def("get_default_context", &GetDefaultContext, nb::rv_policy::reference,
          "The default context of this thread, or the global one if none was set.\n\n"
          "Returns:\n"
          "    Context: It resolves the names of devices and owns new graphs.\n"
          "Raises:\n"
          "    ContextError: If neither is set.");
    m.def("set_default_context", &SetDefaultContext, nb::arg("context").none(),
          "Sets the default context of this thread, and resets the default device.\n\n"
          "Args:\n"
          "    context (Context): None means the global one.");
    m.def("get_global_default_context", &GetGlobalDefaultContext, nb::rv_policy::reference,
          "The default context of threads that have set none.\n\n"
          "Returns:\n"
          "    Context: Initially the one that the process starts with.\n"
          "Raises:\n"
          "    ContextError: If it was set to None.");
    m.def("set_global_default_context", &SetGlobalDefaultContext, nb::arg("context").none(),
          "Sets the default context of threads that have set none.\n\n"
          "Args:\n    context (Context): None leaves such threads without one.");
}

void BindDevice(nb::module_& m) {
    nb::class_<Backend>(m, "Backend",
                        "A kind of device with its kernels. See chainerx.get_backend().")
        .def("__reduce__",
             [](const Backend& b) {
                 return nb::make_tuple(nb::module_::import_("chainerx").attr("_recover_backend"),
                                       nb::make_tuple(b.name()));
             })
        .def_prop_ro("name", &Backend::name, "Name, such as 'native'.")
        .def_prop_ro("context", &Backend::context, nb::rv_policy::reference,
                     "The context that owns it.")
        .def("get_device", &Backend::GetDevice, nb::rv_policy::reference, nb::arg("index") = 0,
             "The device with an index.\n\n"
             "Raises:\n"
             "    IndexError: If there is none.")
        .def("get_device_count", &Backend::GetDeviceCount, "The number of devices.");
    nb::class_<Device>(m, "Device",
                       "The owner of the memory of arrays, which computes on them. Devices are "
                       "compared by identity and pickled by name.\n"
                       "See chainerx.get_device().")
        .def_prop_ro("name", &Device::name, "Backend and index, such as 'native:0'.")
        .def_prop_ro("index", &Device::index, "Index in the backend.")
        .def_prop_ro("backend", &Device::backend, nb::rv_policy::reference,
                     "The backend that owns it.")
        .def_prop_ro("context", &Device::context, nb::rv_policy::reference,
                     "The context that owns the backend.")
        .def(
            "synchronize", [](Device& d) { d.Synchronize(); },
            "Waits until all work that was started on the device is done.")
        .def("__repr__", &Device::name)
        .def("__reduce__", [](const Device& d) {
            return nb::make_tuple(nb::module_::import_("chainerx").attr("_recover_device"),
                                  nb::make_tuple(d.name()));
        });
    nb::class_<PyDeviceScope>(m, "DeviceScope", "See chainerx.using_device().")
        .def("__reduce__", &RefuseCopies)
        .def_prop_ro("device", &PyDeviceScope::device, nb::rv_policy::reference,
                     "The default device inside.")
        .def(
            "__enter__",
            [](PyDeviceScope& s) -> PyDeviceScope& {
                s.Enter();
                return s;
            },
            nb::rv_policy::reference)
        .def("__exit__", [](PyDeviceScope& s, nb::args) { s.Exit(); });
    m.def(
        "get_backend",
        [](nb::str name) -> Backend& { return GetDefaultContext().GetBackend(name.c_str()); },
        nb::rv_policy::reference, nb::arg("backend_name"),
        "A backend of the default context by name, such as 'native'; loaded if it is a plug-in.\n\n"
        "Args:\n    backend_name (str): 'native', 'cuda', or the name of a library in "
        "$CHAINERX_PATH/backends.\n"
        "Returns:\n    Backend: The same object each time.\n"
        "Raises:\n    BackendError: If there is none.");
    m.def("get_device", &Resolve, nb::rv_policy::reference, nb::arg("device") = nb::none(),
          nb::arg("index") = nb::none(),
          nb::sig("def get_device(device: str | Device | None = None, index: int | None = None) -> "
                  "Device"),
          "A device by name.\n\n"
          "Args:\n"
          "    device (str or Device): 'native:1', 'native' (the first one), a device itself, or "
          "None: the default\n"
          "        device. If an index is given, the name of the backend.\n"
          "    index (int): Index of the device in the backend.\n"
          "Returns:\n"
          "    Device: The same object each time.\n"
          "Raises:\n"
          "    BackendError: If there is no such backend.\n"
          "    IndexError: If the backend has no such device.\n"
          "    DeviceError: If the name can't be parsed.");
    m.def("get_default_device", &GetDefaultDevice, nb::rv_policy::reference,
          "The device on which this thread creates arrays unless another one is given.\n\n"
          "Returns:\n"
          "    Device: Initially native:0.");
    m.def(
        "set_default_device",
        [](nb::handle d) {
            if (d.is_none()) throw TypeError{"set_default_device: device must not be None"};
            SetDefaultDevice(&ToDevice(d.ptr()));
        },
        nb::arg("device"), nb::sig("def set_default_device(device: str | Device) -> None"),
        "Sets the default device of this thread.\n\n"
        "Args:\n"
        "    device (str or Device): The device.\n"
        "Raises:\n"
        "    ContextError: If it is of another context than the default one.");
    m.def("memory_stats", &MemoryStatsOf, nb::arg("device") = nb::none(),
          nb::sig("def memory_stats(device: str | Device | None = None) -> dict[str, int | None]"),
          "Memory of a device that is in use, and its peak.\n\n"
          "Args:\n"
          "    device (str or Device): The device; None means the default device.\n"
          "Returns:\n"
          "    dict: ``in_use``, bytes of arrays and workspaces, and ``peak_in_use``, its maximum "
          "since the start\n"
          "    of the process or ``reset_peak_memory_stats``; ``workspace`` and "
          "``peak_workspace``, the part that is\n"
          "    workspace of kernels; ``allocations``, the number of arrays that own memory (views "
          "share it); ``cached``,\n"
          "    freed bytes kept for reuse, and ``limit``, their maximum or None. All native "
          "devices share these two.\n"
          "Raises:\n"
          "    NotImplementedError: If the device does not count its memory.\n"
          "Note:\n"
          "    Memory that arrays borrow (NumPy, DLPack) is not counted. Peaks may miss 64 KiB of "
          "small\n"
          "    arrays per thread.");
    m.def(
        "reset_peak_memory_stats",
        [](nb::handle device) { ResetPeakMemoryStats(ToDevice(device.ptr())); },
        nb::arg("device") = nb::none(),
        nb::sig("def reset_peak_memory_stats(device: str | Device | None = None) -> None"),
        "Resets the peaks of memory_stats() to the current values.\n\n"
        "Args:\n"
        "    device (str or Device): The device; None means the default device.\n"
        "Raises:\n"
        "    NotImplementedError: If the device does not count its memory.");
    m.def(
        "using_device", [](nb::handle d, nb::handle i) { return new PyDeviceScope{Resolve(d, i)}; },
        nb::arg("device"), nb::arg("index") = nb::none(),
        nb::sig("def using_device(device: str | Device, index: int | None = None) -> DeviceScope"),
        "Context manager that makes a device the default of this thread.\n\n"
        "Args:\n"
        "    device (str or Device): As for get_device().\n"
        "    index (int): As for get_device().\n"
        "Returns:\n"
        "    DeviceScope: The context manager; it is reentrant and can be nested.\n"
        "Raises:\n"
        "    BackendError: If there is no such backend.\n"
        "    IndexError: If the backend has no such device.");
}

}  // namespace

PyObject* FromDevice(Device& device) {
    return nb::cast(&device, nb::rv_policy::reference).release().ptr();
}

Device* AsDevice(PyObject* o) {
    Device* d = nullptr;
    return nb::try_cast(nb::handle{o}, d) && d != nullptr ? d : nullptr;
}

Device& ToDeviceOr(PyObject* o, Device& fallback) {
    if (!Given(o)) return fallback;
    if (PyUnicode_Check(o)) return GetDefaultContext().GetDevice(ToString("device", "device", o));
    if (Device* d = AsDevice(o)) return *d;
    throw TypeError{"device must be a str or a chainerx.Device, got ", Py_TYPE(o)->tp_name};
}

Device& ToDevice(PyObject* o) {
    if (!Given(o)) return GetDefaultDevice();
    return ToDeviceOr(o, GetDefaultDevice());
}

void InitDevice(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    BindContext(m);
    BindDevice(m);
}

}  // namespace chainerx::python
