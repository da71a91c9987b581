#include "chainerx/python/grad_hooks.h"

#include <nanobind/nanobind.h>

#include <optional>

#include "chainerx/autograd/hooks.h"
#include "chainerx/python/callable.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/ids.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

struct PythonHook {
    Callable call;

    std::optional<Array> operator()(const Array& g) const {
        const nb::gil_scoped_acquire gil;
        const nb::object grad = nb::steal(Wrap(g));
        const Ref result = call(grad.ptr());
        if (result.get() == Py_None) return std::nullopt;
        return ToArray("register_hook", "what the hook returns", result.get());
    }
};

// The slot of an array with a single owner, if it has hooks.
internal::Slot* HookedPlaceOf(const internal::ArrayBody* body) {
    if (body == nullptr || body->slot == nullptr || body->StrongCount() != 1) return nullptr;
    return internal::HasHooksOfItsOwn(*body->slot) ? body->slot : nullptr;
}

CX_METHOD(
    register_hook,
    "hook: Callable[[ndarray], ndarray | None], backprop_id: BackpropId | None = None) "
    "-> HookHandle",
    "Registers a function that backward calls with the gradient of this array.\n\n"
    "Args:\n"
    "    hook (callable): It gets the complete gradient and returns None, or a replacement of the "
    "same\n"
    "        shape, dtype and device. It must not write to the gradient. With ``loss_scale``,\n"
    "        gradients are scaled.\n"
    "    backprop_id (BackpropId): The graph. None means the default one of the context, or inside "
    "a\n"
    "        function that `chainerx.func` differentiates, that function's graph.\n"
    "Returns:\n"
    "    HookHandle: Its ``remove()`` removes the hook. Hooks are called in the order of "
    "registration.\n"
    "Raises:\n"
    "    ChainerxError: If the array is not in the graph.\n"
    "    GradientError: In backward, if the hook has written to the gradient, or its result does\n"
    "        not fit. Then, and if the hook raises, graph and gradients are as before.\n"
    "Note:\n"
    "    A hook may refer to the array. One that refers to arrays computed from it keeps both "
    "alive\n"
    "    until ``remove()``.") {
    if (!PyCallable_Check(a[0])) {
        throw TypeError{"register_hook: hook must be callable, got ", Py_TYPE(a[0])->tp_name};
    }
    Ref handle{nb::cast(RegisterGradHook(Self(self), PythonHook{Callable{a[0]}},
                                         ToId("register_hook", a[1])))
                   .release()
                   .ptr()};
    Track(self);  // the hook may refer to the array
    return handle.Release();
}

}  // namespace

int VisitGradHooks(const internal::ArrayBody* body, visitproc visit, void* arg) {
    internal::Slot* place = HookedPlaceOf(body);
    if (place == nullptr) return 0;
    int result = 0;
    internal::VisitGradHooks(*place, [&](const GradHook& hook) {
        const auto* python = hook.target<PythonHook>();
        if (result == 0 && python != nullptr && python->call.IsSole()) {
            result = visit(python->call.get(), arg);
        }
    });
    return result;
}

void ClearGradHooks(const internal::ArrayBody* body) {
    if (internal::Slot* place = HookedPlaceOf(body)) internal::RemoveGradHooks(*place);
}

void InitGradHooks(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::class_<GradHookHandle>(core, "HookHandle", "Result of ndarray.register_hook().")
        .def("__reduce__", &RefuseCopies)
        .def("remove", &GradHookHandle::Remove,
             "Removes the hook and drops its function; further calls do nothing.");
}

}  // namespace chainerx::python
