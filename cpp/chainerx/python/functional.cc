// What chainerx.func is made of: functions of lists of arrays. Trees, axes and batches are Python's
// (python/chainerx/func).
#include "chainerx/autograd/functional.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "chainerx/core/error.h"
#include "chainerx/ops/checkpoint.h"
#include "chainerx/python/callable.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ref.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

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

}  // namespace

void InitFunctional(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
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
