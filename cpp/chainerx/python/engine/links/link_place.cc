#include "chainerx/python/engine/links/link_place.h"

#include "chainerx/core/context.h"
#include "chainerx/python/device.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {
namespace {

// Interned, made by InitLinkPlace.
PyObject* g_device;
PyObject* g_device_of_chainerx;

}  // namespace

LinkPlace PlaceOfLink(PyObject* link) {
    const Ref device = Check(PyObject_GetAttr(link, g_device));
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(device.get()));
    if (type == g_callbacks.cpu_device_class) {
        return {Kind::kNumpy, &GetDefaultContext().GetNativeBackend().GetDevice(0)};
    }
    if (type != g_callbacks.chainerx_device_class) return {};
    const Ref inner = Check(PyObject_GetAttr(device.get(), g_device_of_chainerx));
    return {Kind::kChainerx, AsDevice(inner.get())};
}

void InitLinkPlace() {
    g_device = Check(PyUnicode_InternFromString("_device")).Release();
    g_device_of_chainerx = Check(PyUnicode_InternFromString("device")).Release();
}

}  // namespace chainerx::python::engine
