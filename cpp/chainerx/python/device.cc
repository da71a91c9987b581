#include "chainerx/python/device.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <memory>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// The device that a Python argument names: None, a str, a Device, or (backend name, index).
Device& Resolve(nb::handle device, nb::handle index) {
    if (index.is_none()) return ToDevice(device.ptr());
    return GetDefaultContext().GetDevice(
        ToString("get_device", "backend_name", device.ptr()),
        static_cast<int>(ToInt("get_device", "index", index.ptr())));
}

// Both scopes may be entered several times at once.
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
                        "Owns backends and backprop ids. Lives as long as the process.")
        // Never freed, for arrays refer to its devices: the object keeps itself.
        .def("__init__",
             [](nb::pointer_and_handle<Context> self) {
                 new (self.p) Context;
                 self.h.inc_ref();
             })
        .def("__reduce__", &RefuseCopies)
        .def("get_backend", &Context::GetBackend, nb::rv_policy::reference, nb::arg("backend_name"))
        .def(
            "get_device",
            [](Context& c, nb::str name, std::optional<int> index) -> Device& {
                return index ? c.GetDevice(name.c_str(), *index) : c.GetDevice(name.c_str());
            },
            nb::rv_policy::reference, nb::arg("device"), nb::arg("index") = nb::none())
        .def("make_backprop_id", &Context::MakeBackpropId, nb::arg("backprop_name"))
        .def("release_backprop_id", &Context::ReleaseBackpropId, nb::arg("backprop_id"))
        .def("_check_valid_backprop_id", &Context::CheckValidBackpropId, nb::arg("backprop_id"));
    nb::class_<PyContextScope>(m, "ContextScope")
        .def("__reduce__", &RefuseCopies)
        .def(
            "__enter__",
            [](PyContextScope& s) -> PyContextScope& {
                s.Enter();
                return s;
            },
            nb::rv_policy::reference)
        .def("__exit__", [](PyContextScope& s, nb::args) { s.Exit(); });
    m.def("context_scope", [](Context& c) { return new PyContextScope{c}; }, nb::arg("context"));
    m.def("get_default_context", &GetDefaultContext, nb::rv_policy::reference);
    m.def("set_default_context", &SetDefaultContext, nb::arg("context").none());
    m.def("get_global_default_context", &GetGlobalDefaultContext, nb::rv_policy::reference);
    m.def("set_global_default_context", &SetGlobalDefaultContext, nb::arg("context").none());
}

void BindDevice(nb::module_& m) {
    nb::class_<Backend>(m, "Backend")
        .def("__reduce__",
             [](const Backend& b) {
                 return nb::make_tuple(nb::module_::import_("chainerx").attr("_recover_backend"),
                                       nb::make_tuple(b.name()));
             })
        .def_prop_ro("name", &Backend::name)
        .def_prop_ro("context", &Backend::context, nb::rv_policy::reference)
        .def("get_device", &Backend::GetDevice, nb::rv_policy::reference, nb::arg("index") = 0)
        .def("get_device_count", &Backend::GetDeviceCount);
    nb::class_<Device>(m, "Device")
        .def_prop_ro("name", &Device::name)
        .def_prop_ro("index", &Device::index)
        .def_prop_ro("backend", &Device::backend, nb::rv_policy::reference)
        .def_prop_ro("context", &Device::context, nb::rv_policy::reference)
        .def("synchronize", &Device::Synchronize)
        .def("__repr__", &Device::name)
        .def("__reduce__", [](const Device& d) {
            return nb::make_tuple(nb::module_::import_("chainerx").attr("_recover_device"),
                                  nb::make_tuple(d.name()));
        });
    nb::class_<PyDeviceScope>(m, "DeviceScope")
        .def("__reduce__", &RefuseCopies)
        .def_prop_ro("device", &PyDeviceScope::device, nb::rv_policy::reference)
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
        nb::rv_policy::reference, nb::arg("backend_name"));
    m.def("get_device", &Resolve, nb::rv_policy::reference, nb::arg("device") = nb::none(),
          nb::arg("index") = nb::none());
    m.def("get_default_device", &GetDefaultDevice, nb::rv_policy::reference);
    m.def(
        "set_default_device",
        [](nb::handle d) {
            if (d.is_none()) throw TypeError{"set_default_device: device must not be None"};
            SetDefaultDevice(&ToDevice(d.ptr()));
        },
        nb::arg("device"));
    m.def(
        "using_device", [](nb::handle d, nb::handle i) { return new PyDeviceScope{Resolve(d, i)}; },
        nb::arg("device"), nb::arg("index") = nb::none());
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
