// Backpropagation, and checks of gradients.
#include "chainerx/autograd/backward.h"

#include "chainerx/autograd/check_backward.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ids.h"

namespace chainerx::python {
namespace {

std::vector<Array> OneOrMore(const char* op, const char* name, PyObject* o) {
    if (IsNdArray(o)) return {Self(o)};
    return ToArrays(op, name, o);
}

DoubleBackpropOption ToTwice(PyObject* o) {
    return ToBool(o, false) ? DoubleBackpropOption::kEnable : DoubleBackpropOption::kDisable;
}

std::optional<double> ToLossScale(const char* op, PyObject* o) {
    return Given(o) ? std::optional<double>{ToDouble(op, "loss_scale", o)} : std::nullopt;
}

#define CX_ARGS_BACKWARD                                                                    \
    "    backprop_id (BackpropId): The graph; None means the default one of the context.\n" \
    "    enable_double_backprop (bool): Whether to record what is computed, so that the "   \
    "gradients can be\n"                                                                    \
    "        differentiated. The graph stays; otherwise it is released.\n"
#define CX_ARG_LOSS_SCALE                                                                        \
    "    loss_scale (float): Initial gradient of outputs that have none, instead of 1; results " \
    "are\n"                                                                                      \
    "        divided by it.\n"

CX_ROUTINE(
    backward,
    "outputs: ExistingArray | Sequence[ExistingArray], backprop_id: BackpropId | None = None, "
    "enable_double_backprop: bool = False, loss_scale: float | None = None) -> None",
    "Backpropagates from arrays to everything that they were computed from.\n\n"
    "The gradients of leaves with ``require_grad()`` are added to what they have.\n\n"
    "Args:\n"
    "    outputs (ndarray or list of ndarrays): Where to start: from their ``grad``, or from ones "
    "where it is unset.\n" CX_ARGS_BACKWARD CX_ARG_LOSS_SCALE
    "Raises:\n"
    "    GradientError: If a gradient does not fit its array; all gradients are then as before.") {
    const std::vector<Array> ys = OneOrMore("backward", "outputs", a[0]);
    Backward(Refs(ys), ToId("backward", a[1]), ToTwice(a[2]), ToLossScale("backward", a[3]));
    Py_RETURN_NONE;
}

std::vector<std::optional<Array>> ToGradOutputs(PyObject* o) {
    std::vector<std::optional<Array>> gys;
    if (!Given(o)) return gys;
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        throw TypeError{"grad: grad_outputs must be a list or tuple of ndarray or None, got ",
                        Py_TYPE(o)->tp_name};
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        PyObject* g = PySequence_Fast_GET_ITEM(o, i);
        gys.push_back(Given(g) ? std::optional<Array>{ToArray("grad", "grad_outputs", g)}
                               : std::nullopt);
    }
    return gys;
}

CX_ROUTINE(
    grad,
    "outputs: ExistingArray | Sequence[ExistingArray], inputs: ExistingArray | "
    "Sequence[ExistingArray], "
    "backprop_id: BackpropId | None = None, enable_double_backprop: bool = False, "
    "set_grad: bool = False, retain_grad: bool = False, "
    "grad_outputs: Sequence[ExistingArray | None] | None = None, "
    "loss_scale: float | None = None) -> list[Any]",
    "Gradients of outputs with respect to inputs; no ``grad`` is changed.\n\n"
    "Args:\n"
    "    outputs (ndarray or list of ndarrays): The arrays to differentiate: their sum, weighted\n"
    "        by ``grad_outputs``.\n"
    "    inputs (ndarray or list of ndarrays): The arrays to differentiate with respect "
    "to.\n" CX_ARGS_BACKWARD
    "    set_grad (bool): Whether to set the ``grad`` of the inputs as well.\n"
    "    retain_grad (bool): Whether to set the ``grad`` of all arrays in between as well.\n"
    "    grad_outputs (list of ndarrays): One per output; None, for one or for all, means "
    "ones.\n" CX_ARG_LOSS_SCALE
    "Returns:\n"
    "    list: One gradient per input, of its shape and dtype; None if no output depends on "
    "it.\n        Differentiable with ``enable_double_backprop``.\n"
    "Raises:\n    GradientError: If ``grad_outputs`` do not fit the outputs.") {
    const std::vector<Array> ys = OneOrMore("grad", "outputs", a[0]);
    const std::vector<Array> xs = OneOrMore("grad", "inputs", a[1]);
    const std::vector<std::optional<Array>> gxs =
        Grad(Refs(ys), Refs(xs), ToId("grad", a[2]), ToTwice(a[3]), ToBool(a[4], false),
             ToBool(a[5], false), ToGradOutputs(a[6]), ToLossScale("grad", a[7]));
    Ref list = Check(PyList_New(static_cast<Py_ssize_t>(gxs.size())));
    for (size_t i = 0; i < gxs.size(); ++i) {
        PyObject* g = gxs[i] ? Wrap(*gxs[i]) : Py_NewRef(Py_None);
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), g);
    }
    return list.Release();
}

// Wraps a Python function from a list of arrays to arrays.
CheckedFunction ToFunction(const char* op, PyObject* func) {
    if (!PyCallable_Check(func)) {
        throw TypeError{op, ": func must be callable, got ", Py_TYPE(func)->tp_name};
    }
    return [op, func](const std::vector<Array>& xs) {
        const Ref list = Check(WrapList(xs));
        const Ref ys = Check(PyObject_CallOneArg(func, list.get()));
        return OneOrMore(op, "the result of func", ys.get());
    };
}

// Steps for each of `arrays`, given as arrays or as one number for all elements.
std::vector<Array> ToEps(const char* op, PyObject* eps, const std::vector<Array>& arrays) {
    if (!PyFloat_Check(eps)) return OneOrMore(op, "eps", eps);
    const double step = ToDouble(op, "eps", eps);
    std::vector<Array> out;
    for (const Array& x : arrays) {
        out.push_back(Full(x.shape(), step, RealDtype(FloatResult(x.dtype())), x.device()));
    }
    return out;
}

#define CX_ARGS_CHECK                                                                              \
    "    atol, rtol (float): Tolerance: gradients may be off by ``atol + rtol * |difference|``.\n" \
    "    backprop_id (BackpropId): The graph; None means the default one of the context.\n"        \
    "Raises:\n"                                                                                    \
    "    GradientCheckError: If one is off by more; names the input, the element and both "        \
    "values.\n"                                                                                    \
    "    ChainerxError: If no input has ``require_grad()``."

CX_ROUTINE(check_backward,
           "func: Callable[[list[ndarray]], ndarray | Sequence[ndarray]], "
           "inputs: ExistingArray | Sequence[ExistingArray], grad_outputs: ExistingArray | "
           "Sequence[ExistingArray], "
           "eps: float | Sequence[ndarray], atol: float = 1e-5, rtol: float = 1e-4, "
           "backprop_id: BackpropId | None = None) -> None",
           "Compares the gradients of a function with finite differences of its results.\n\n"
           "Args:\n"
           "    func (callable): From a list of arrays to an array or several.\n"
           "    inputs (list of ndarrays): The point. Those with ``require_grad()`` are checked; "
           "others, such\n"
           "        as integers, are passed on.\n"
           "    grad_outputs (list of ndarrays): Weights of the results.\n"
           "    eps (float or list of ndarrays): Step of the differences.\n" CX_ARGS_CHECK) {
    constexpr const char* kOp = "check_backward";
    const std::vector<Array> xs = OneOrMore(kOp, "inputs", a[1]);
    CheckBackward(ToFunction(kOp, a[0]), xs, OneOrMore(kOp, "grad_outputs", a[2]),
                  ToEps(kOp, a[3], xs), a[4] != nullptr ? ToDouble(kOp, "atol", a[4]) : 1e-5,
                  a[5] != nullptr ? ToDouble(kOp, "rtol", a[5]) : 1e-4, ToId(kOp, a[6]));
    Py_RETURN_NONE;
}

CX_ROUTINE(
    check_double_backward,
    "func: Callable[[list[ndarray]], ndarray | Sequence[ndarray]], "
    "inputs: ExistingArray | Sequence[ExistingArray], grad_outputs: ExistingArray | "
    "Sequence[ExistingArray], "
    "grad_grad_inputs: ExistingArray | Sequence[ExistingArray], eps: float | Sequence[ndarray], "
    "atol: float = 1e-5, rtol: float = 1e-4, backprop_id: BackpropId | None = None) -> None",
    "Compares the second gradients of a function with finite differences of its first ones.\n\n"
    "Args:\n"
    "    func (callable): From a list of arrays to an array or several.\n"
    "    inputs (list of ndarrays): The point. Those with ``require_grad()`` are checked.\n"
    "    grad_outputs (list of ndarrays): Weights of the results; those with ``require_grad()``\n"
    "        are checked, too.\n"
    "    grad_grad_inputs (list of ndarrays): Weights of the first gradients.\n"
    "    eps (float or list of ndarrays): Step of the differences, for inputs and "
    "grad_outputs.\n" CX_ARGS_CHECK) {
    constexpr const char* kOp = "check_double_backward";
    const std::vector<Array> xs = OneOrMore(kOp, "inputs", a[1]);
    const std::vector<Array> gys = OneOrMore(kOp, "grad_outputs", a[2]);
    std::vector<Array> all = xs;
    all.insert(all.end(), gys.begin(), gys.end());
    CheckDoubleBackward(ToFunction(kOp, a[0]), xs, gys, OneOrMore(kOp, "grad_grad_inputs", a[3]),
                        ToEps(kOp, a[4], all), a[5] != nullptr ? ToDouble(kOp, "atol", a[5]) : 1e-5,
                        a[6] != nullptr ? ToDouble(kOp, "rtol", a[6]) : 1e-4, ToId(kOp, a[7]));
    Py_RETURN_NONE;
}

}  // namespace
}  // namespace chainerx::python
