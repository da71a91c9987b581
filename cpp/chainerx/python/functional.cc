// What chainerx.func is made of: functions of lists of arrays. Trees, axes and batches are Python's
// (python/chainerx/func).
#include "chainerx/autograd/functional.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "chainerx/autograd/hooks.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/checkpoint.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/deferred.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ids.h"
#include "chainerx/python/ref.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// A callable that the library keeps, and lets go of on any thread.
class Callable {
 public:
    explicit Callable(PyObject* f)
        : f_{Py_NewRef(f), [](PyObject* o) {
                 ReleaseWithGil(o, [](void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); });
             }} {}

    Ref operator()(PyObject* argument) const {
        return Check(PyObject_CallOneArg(f_.get(), argument));
    }

 private:
    std::shared_ptr<PyObject> f_;
};

// From a list of arrays to a list of them.
ArrayFunction ToFunction(nb::handle f) {
    return [call = Callable{f.ptr()}](const std::vector<Array>& xs) {
        const nb::gil_scoped_acquire gil;
        const Ref list = Check(WrapList(xs));
        const Ref ys = call(list.get());
        return ToArrays("func", "result", ys.get());
    };
}

// None is zero.
std::vector<Array> ToDirections(const char* op, const nb::list& list) {
    std::vector<Array> arrays;
    for (nb::handle o : list) {
        arrays.push_back(o.is_none() ? Array{} : ToArray(op, "direction", o.ptr()));
    }
    return arrays;
}

nb::list ToList(const std::vector<Array>& arrays) { return nb::steal<nb::list>(WrapList(arrays)); }

CX_METHOD(register_hook,
          "hook: Callable[[ndarray], ndarray | None], backprop_id: BackpropId | None = None) "
          "-> HookHandle",
          "Has a function called with the gradient of this array, whenever backward has it.\n\n"
          "Args:\n"
          "    hook (callable): Gets the gradient, all of it, and returns None or another one, of "
          "the same\n        shape, dtype and device, which goes on in its place. May not write to "
          "it. With\n        ``loss_scale``, gradients are scaled.\n"
          "    backprop_id (BackpropId): The graph; None is the default one of the context.\n"
          "Returns:\n"
          "    HookHandle: Its ``remove()`` ends it. Hooks are called in the order of their "
          "registration.\n"
          "Raises:\n"
          "    ChainerxError: If the array is not in the graph.\n"
          "    GradientError: In backward, if what the hook returned does not fit. Then, and if it "
          "raises,\n        graph and gradients are as before.\n"
          "Note:\n"
          "    A hook that refers to the array, or to what is computed from it, keeps it alive "
          "until\n    ``remove()``.") {
    if (!PyCallable_Check(a[0])) {
        throw TypeError{"register_hook: hook must be callable, got ", Py_TYPE(a[0])->tp_name};
    }
    const GradHook hook = [call = Callable{a[0]}](const Array& g) -> std::optional<Array> {
        const nb::gil_scoped_acquire gil;
        const nb::object grad = nb::steal(Wrap(g));
        const Ref result = call(grad.ptr());
        if (result.get() == Py_None) return std::nullopt;
        return ToArray("register_hook", "what the hook returns", result.get());
    };
    return nb::cast(RegisterGradHook(Self(self), hook, ToId("register_hook", a[1])))
        .release()
        .ptr();
}

}  // namespace

void InitFunctional(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::class_<GradHookHandle>(core, "HookHandle", "What ndarray.register_hook() returns.")
        .def("__reduce__", &RefuseCopies)
        .def("remove", &GradHookHandle::Remove,
             "Ends the hook, and forgets its function. Again does nothing.");
    nb::module_ m =
        core.def_submodule("functional", "Derivatives of functions, of lists of arrays.");
    nb::class_<Pullback>(m, "Pullback", "A function at a point, and its derivative backward.")
        .def("__reduce__", &RefuseCopies)
        .def(
            "__init__",
            [](Pullback* self, nb::handle f, const nb::list& primals) {
                new (self) Pullback{ToFunction(f), ToArrays("vjp", "primals", primals.ptr())};
            },
            nb::arg("f"), nb::arg("primals"))
        .def_prop_ro(
            "outputs", [](const Pullback& p) { return ToList(p.outputs()); }, "The results.")
        .def(
            "__call__",
            [](const Pullback& p, const nb::list& cotangents) {
                return ToList(p(ToDirections("vjp", cotangents)));
            },
            nb::arg("cotangents"), "One gradient per argument; None among cotangents is zero.");
    nb::class_<Pushforward>(m, "Pushforward", "A function at a point, and its derivative forward.")
        .def("__reduce__", &RefuseCopies)
        .def(
            "__init__",
            [](Pushforward* self, nb::handle f, const nb::list& primals) {
                new (self) Pushforward{ToFunction(f), ToArrays("jvp", "primals", primals.ptr())};
            },
            nb::arg("f"), nb::arg("primals"))
        .def_prop_ro(
            "outputs", [](const Pushforward& p) { return ToList(p.outputs()); }, "The results.")
        .def(
            "__call__",
            [](const Pushforward& p, const nb::list& tangents) {
                return ToList(p(ToDirections("jvp", tangents)));
            },
            nb::arg("tangents"), "One change per result; None among tangents is zero.");
    m.def(
        "checkpoint",
        [](nb::handle f, const nb::list& inputs) {
            return ToList(
                Checkpoint(ToFunction(f), ToArrays("checkpoint", "inputs", inputs.ptr())));
        },
        nb::arg("f"), nb::arg("inputs"), "f(inputs), which backward computes again.");
}

}  // namespace chainerx::python
