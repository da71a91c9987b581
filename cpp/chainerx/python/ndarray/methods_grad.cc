// Methods of ndarray for gradients.
#include <nanobind/nanobind.h>

#include "chainerx/autograd/backward.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ids.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

bool IsAnyGraph(PyObject* o) { return Given(o) && nb::isinstance<AnyGraph>(nb::handle{o}); }

PyObject* None() { return Py_NewRef(Py_None); }

CX_METHOD(require_grad, "backprop_id: BackpropId | None = None) -> ndarray",
          "Marks the array as requiring a gradient, and returns it.\n\n"
          "Raises:\n"
          "    DtypeError: If the dtype is neither floating point nor complex.") {
    Self(self).RequireGrad(ToId("require_grad", a[0]));
    return Py_NewRef(self);
}

CX_METHOD(is_grad_required, "backprop_id: BackpropId | None = None) -> bool",
          "Whether require_grad() was called for the graph.") {
    return PyBool_FromLong(Self(self).IsGradRequired(ToId("is_grad_required", a[0])));
}

CX_METHOD(is_backprop_required, "backprop_id: BackpropId | AnyGraph | None = None) -> bool",
          "Whether operations on the array are currently recorded in the graph; in any graph for "
          "chainerx.anygraph.") {
    if (IsAnyGraph(a[0])) return PyBool_FromLong(Self(self).IsBackpropRequired(AnyGraph{}));
    return PyBool_FromLong(Self(self).IsBackpropRequired(ToId("is_backprop_required", a[0])));
}

CX_METHOD(get_grad, "backprop_id: BackpropId | None = None) -> ndarray | None",
          "The gradient; None if unset.\n\n"
          "Raises:\n"
          "    ChainerxError: If the array does not require a gradient.") {
    std::optional<Array> g = Self(self).GetGrad(ToId("get_grad", a[0]));
    return g ? Wrap(std::move(*g)) : None();
}

CX_METHOD(set_grad, "grad: ExistingArray | None, backprop_id: BackpropId | None = None) -> None",
          "Sets the gradient; None clears it.\n\n"
          "Raises:\n    GradientError: If shape, dtype or device differ from the array's.") {
    const std::optional<BackpropId> id = ToId("set_grad", a[1]);
    if (Given(a[0])) {
        Self(self).SetGrad(ToArray("set_grad", "grad", a[0]), id);
    } else {
        Self(self).ClearGrad(id);
    }
    return None();
}

CX_METHOD(cleargrad, "backprop_id: BackpropId | None = None) -> None", "Clears the gradient.") {
    Self(self).ClearGrad(ToId("cleargrad", a[0]));
    return None();
}

CX_METHOD(backward,
          "backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, "
          "loss_scale: float | None = None) -> None",
          "Backpropagates from this array; see chainerx.backward().") {
    std::optional<double> scale;
    if (Given(a[2])) scale = ToDouble("backward", "loss_scale", a[2]);
    Backward(Self(self), ToId("backward", a[0]),
             ToBool(a[1], false) ? DoubleBackpropOption::kEnable : DoubleBackpropOption::kDisable,
             scale);
    return None();
}

CX_METHOD(as_grad_stopped,
          "backprop_ids: Sequence[BackpropId] | bool | None = None, copy: bool = False) -> ndarray",
          "The same values outside all graphs, or outside those of ``backprop_ids``. A view that "
          "shares memory unless ``copy``.") {
    PyObject* ids = a[0];
    bool copy = ToBool(a[1], false);
    if (ids != nullptr && PyBool_Check(ids)) {  // as_grad_stopped(True) means copy
        copy = ids == Py_True;
        ids = nullptr;
    }
    const CopyKind kind = copy ? CopyKind::kCopy : CopyKind::kView;
    if (!Given(ids)) return Wrap(Self(self).AsGradStopped(kind));
    return Wrap(Self(self).AsGradStopped(ToIds("as_grad_stopped", "backprop_ids", ids), kind));
}

}  // namespace
}  // namespace chainerx::python
