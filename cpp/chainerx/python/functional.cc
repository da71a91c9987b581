// The primitives of chainerx.func: functions of lists of arrays. Trees, axes and batches are
// handled in Python (python/chainerx/func).
#include "chainerx/python/functional.h"

#include "chainerx/autograd/functional.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "chainerx/ops/checkpoint.h"
#include "chainerx/ops/random/random_generator.h"
#include "chainerx/python/callable.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/device.h"
#include "chainerx/python/interop/deferred.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// A function from a list of arrays to a list of arrays.
struct PythonFunction {
    Callable call;

    std::vector<Array> operator()(const std::vector<Array>& xs) const {
        const nb::gil_scoped_acquire gil;
        const Ref list = Check(WrapList(xs));
        const Ref ys = call(list.get());
        return ToArrays("func", "result", ys.get());
    }
};

ArrayFunction ToFunction(nb::handle f) { return PythonFunction{Callable{f.ptr()}}; }

// The function may refer to an object that keeps a result, so the cycle collector must visit it.
std::vector<Array> CallCheckpoint(nb::handle f, const nb::list& inputs) {
    std::vector<Array> ys =
        Checkpoint(ToFunction(f), ToArrays("checkpoint", "inputs", inputs.ptr()));
    for (const Array& y : ys) {
        internal::Slot* slot = y.body()->slot;
        if (slot == nullptr || slot->node == nullptr) continue;
        // No node above it is recorded yet.
        if (internal::IsCheckpoint(*slot->node)) slot->node->foreign_below = true;
    }
    return ys;
}

// Repeats the random draws of the first call of a function in all other calls.
class SameDraws {
 public:
    nb::object operator()(nb::handle f) {
        if (first_) {
            random::DrawScope scope;
            nb::object result = f();
            if (first_) {  // unless a nested call was the first
                draws_ = std::move(scope.draws());
                first_ = false;
            }
            return result;
        }
        const random::DrawScope scope{draws_};
        return f();
    }

 private:
    bool first_{true};
    random::Draws draws_;
};

// None means a zero tangent.
std::vector<Array> ToDirections(const char* op, const nb::list& list) {
    std::vector<Array> arrays;
    for (nb::handle o : list) {
        arrays.push_back(o.is_none() ? Array{} : ToArray(op, "direction", o.ptr()));
    }
    return arrays;
}

nb::list ToList(const std::vector<Array>& arrays) { return nb::steal<nb::list>(WrapList(arrays)); }

}  // namespace

int VisitCheckpoint(internal::Node* node, visitproc visit, void* arg) {
    if (!internal::IsCheckpoint(*node)) return 0;
    // Another thread may release the node meanwhile, and then the objects that it kept are released
    // here.
    const DeferReleases deferred;
    const internal::NodeVisit inside{node};
    if (!inside) return 0;
    const ArrayFunction* f = internal::CheckpointFunctionOf(*node);
    const auto* python = f != nullptr ? f->target<PythonFunction>() : nullptr;
    return python != nullptr && python->call.IsSole() ? visit(python->call.get(), arg) : 0;
}

void InitFunctional(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::module_ m =
        core.def_submodule("functional", "Derivatives of functions of lists of arrays.");
    nb::class_<Pullback>(m, "Pullback", "A function at a point with its reverse-mode derivative.")
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
            nb::arg("cotangents"),
            "Returns one gradient per argument; None among cotangents means zero.");
    nb::class_<Pushforward>(m, "Pushforward",
                            "A function at a point with its forward-mode derivative.")
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
            nb::arg("tangents"), "Returns one tangent per result; None among tangents means zero.");
    nb::class_<SameDraws>(m, "SameDraws",
                          "Replays the random numbers of the first call in later calls.")
        .def("__reduce__", &RefuseCopies)
        .def(nb::init<>())
        .def("__call__", &SameDraws::operator(), nb::arg("f"),
             "Calls f(); generators that the first call drew from give the same numbers again.");
    m.def(
        "is_repeated", [] { return random::DrawScope::Repeats(); },
        "Whether a function runs again for its derivatives.");
    m.def(
        "moves", [](const Array& x) { return random::DrawScope::Moves(x); }, nb::arg("x"),
        "Whether a function should update a running array: not if its first call has done so.");
    m.def(
        "as_at_first", [](const Array& x) { return random::DrawScope::AsAtFirst(x); }, nb::arg("x"),
        "The array as of the first call if a function runs again, else the array itself.");
    m.def(
        "checkpoint",
        [](nb::handle f, const nb::list& inputs) { return ToList(CallCheckpoint(f, inputs)); },
        nb::arg("f"), nb::arg("inputs"), "Calls f(inputs), and recomputes it in backward.");
}

}  // namespace chainerx::python
