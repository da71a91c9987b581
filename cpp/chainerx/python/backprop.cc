// Backpropagation, its modes and scopes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/check_backward.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/creation.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ids.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

BackpropId ToScopeId(const char* op, nb::handle x) {
    BackpropId* id = nullptr;
    if (nb::try_cast(x, id) && id != nullptr) return *id;
    throw TypeError{op, ": x must be None, a Context, a BackpropId or a list of BackpropIds, got ",
                    Py_TYPE(x.ptr())->tp_name};
}

// no_backprop_mode and force_backprop_mode, entered by `with`, also several times at once.
class PyBackpropMode {
 public:
    PyBackpropMode(const char* name, nb::handle x, bool enabled) : enabled_{enabled} {
        std::vector<BackpropId> ids;
        Context* c;
        if (x.is_none()) {
            context_ = &GetDefaultContext();
        } else if (nb::try_cast(x, c)) {
            context_ = c;
        } else {
            if (PyList_Check(x.ptr()) || PyTuple_Check(x.ptr())) {
                ids = ToIds(name, "x", x.ptr());
            } else {
                ids.push_back(ToScopeId(name, x));
            }
            context_ = &internal::ContextOf(ids);
            ids_ = internal::IdsOf(ids);
        }
    }
    PyBackpropMode(const PyBackpropMode&) = delete;
    PyBackpropMode& operator=(const PyBackpropMode&) = delete;
    void Enter() {
        scopes_.push_back(std::make_unique<BackpropModeScope>(*context_, ids_, enabled_));
    }
    void Exit() {
        if (scopes_.empty()) throw ChainerxError{"backprop mode: left but not entered"};
        const std::unique_ptr<BackpropModeScope> scope = std::move(scopes_.back());
        scopes_.pop_back();
        scope->Leave();
    }

 private:
    Context* context_;
    uint64_t ids_{~uint64_t{0}};
    bool enabled_;
    std::vector<std::unique_ptr<BackpropModeScope>> scopes_;
};

class NoBackpropMode : public PyBackpropMode {
 public:
    explicit NoBackpropMode(nb::handle x) : PyBackpropMode{"no_backprop_mode", x, false} {}
};
class ForceBackpropMode : public PyBackpropMode {
 public:
    explicit ForceBackpropMode(nb::handle x) : PyBackpropMode{"force_backprop_mode", x, true} {}
};

// backprop_scope: usable once.
class PyBackpropScope {
 public:
    PyBackpropScope(std::string name, Context& context)
        : name_{std::move(name)}, context_{context} {}
    BackpropId Enter() {
        if (used_) throw ChainerxError{"backprop_scope: a scope can be entered only once"};
        used_ = true;
        scope_ = std::make_unique<BackpropScope>(name_, context_);
        return scope_->backprop_id();
    }
    void Exit() { scope_.reset(); }

 private:
    std::string name_;
    Context& context_;
    bool used_{false};
    std::unique_ptr<BackpropScope> scope_;
};

template <typename Mode>
void BindMode(nb::module_& m, const char* class_name, const char* name) {
    nb::class_<Mode>(m, class_name)
        .def("__enter__", [](Mode& s) { s.Enter(); })
        .def("__exit__", [](Mode& s, nb::args) { s.Exit(); });
    m.def(name, [](nb::handle x) { return new Mode{x}; }, nb::arg("x") = nb::none());
}

std::vector<Array> OneOrMore(const char* op, const char* name, nb::handle o) {
    if (IsNdArray(o.ptr())) return {Self(o.ptr())};
    return ToArrays(op, name, o.ptr());
}

std::vector<ConstArrayRef> Refs(const std::vector<Array>& arrays) {
    return {arrays.begin(), arrays.end()};
}

DoubleBackpropOption Twice(bool enable) {
    return enable ? DoubleBackpropOption::kEnable : DoubleBackpropOption::kDisable;
}

nb::list PyGrad(nb::handle outputs, nb::handle inputs, std::optional<BackpropId> id, bool twice,
                bool set_grad, bool retain_grad, nb::handle grad_outputs,
                std::optional<double> loss_scale) {
    const std::vector<Array> ys = OneOrMore("grad", "outputs", outputs);
    const std::vector<Array> xs = OneOrMore("grad", "inputs", inputs);
    std::vector<std::optional<Array>> gys;
    if (!grad_outputs.is_none()) {
        if (!PyList_Check(grad_outputs.ptr()) && !PyTuple_Check(grad_outputs.ptr())) {
            throw TypeError{"grad: grad_outputs must be a list or tuple of ndarray or None, got ",
                            Py_TYPE(grad_outputs.ptr())->tp_name};
        }
        for (nb::handle g : nb::iter(grad_outputs)) {
            gys.push_back(g.is_none()
                              ? std::nullopt
                              : std::optional<Array>{ToArray("grad", "grad_outputs", g.ptr())});
        }
    }
    nb::list out;
    for (const std::optional<Array>& g :
         Grad(Refs(ys), Refs(xs), id, Twice(twice), set_grad, retain_grad, gys, loss_scale)) {
        out.append(g ? nb::steal(Wrap(*g)) : nb::none());
    }
    return out;
}

// A Python function from a list of arrays to arrays.
CheckedFunction ToFunction(const char* op, const nb::callable& func) {
    return [op, &func](const std::vector<Array>& xs) {
        const nb::object ys = func(nb::steal(WrapList(xs)));
        return OneOrMore(op, "the result of func", ys);
    };
}

// Steps for each of `arrays`: given as arrays, or as one number for all elements.
std::vector<Array> ToEps(const char* op, nb::handle eps, const std::vector<Array>& arrays) {
    if (!PyFloat_Check(eps.ptr())) return OneOrMore(op, "eps", eps);
    const double step = ToDouble(op, "eps", eps.ptr());
    std::vector<Array> out;
    for (const Array& x : arrays) {
        out.push_back(Full(x.shape(), step, RealDtype(x.dtype()), x.device()));
    }
    return out;
}

void PyCheckBackward(const nb::callable& func, nb::handle inputs, nb::handle grad_outputs,
                     nb::handle eps, double atol, double rtol, std::optional<BackpropId> id) {
    constexpr const char* kOp = "check_backward";
    const std::vector<Array> xs = OneOrMore(kOp, "inputs", inputs);
    CheckBackward(ToFunction(kOp, func), xs, OneOrMore(kOp, "grad_outputs", grad_outputs),
                  ToEps(kOp, eps, xs), atol, rtol, id);
}

void PyCheckDoubleBackward(const nb::callable& func, nb::handle inputs, nb::handle grad_outputs,
                           nb::handle grad_grad_inputs, nb::handle eps, double atol, double rtol,
                           std::optional<BackpropId> id) {
    constexpr const char* kOp = "check_double_backward";
    const std::vector<Array> xs = OneOrMore(kOp, "inputs", inputs);
    const std::vector<Array> gys = OneOrMore(kOp, "grad_outputs", grad_outputs);
    std::vector<Array> all = xs;
    all.insert(all.end(), gys.begin(), gys.end());
    CheckDoubleBackward(ToFunction(kOp, func), xs, gys,
                        OneOrMore(kOp, "grad_grad_inputs", grad_grad_inputs), ToEps(kOp, eps, all),
                        atol, rtol, id);
}

void BindChecks(nb::module_& m) {
    m.def("check_backward", &PyCheckBackward, nb::arg("func"), nb::arg("inputs"),
          nb::arg("grad_outputs"), nb::arg("eps"), nb::arg("atol") = 1e-5, nb::arg("rtol") = 1e-4,
          nb::arg("backprop_id") = nb::none(),
          "Compares the gradients of `func`, which takes a list of arrays and returns one, with "
          "finite\ndifferences of step `eps` (a float, or one array per input).\n\n"
          "Raises:\n    GradientCheckError: If one differs by more than atol + rtol * |value|.");
    m.def("check_double_backward", &PyCheckDoubleBackward, nb::arg("func"), nb::arg("inputs"),
          nb::arg("grad_outputs"), nb::arg("grad_grad_inputs"), nb::arg("eps"),
          nb::arg("atol") = 1e-5, nb::arg("rtol") = 1e-4, nb::arg("backprop_id") = nb::none(),
          "Compares second derivatives with finite differences of the first: by the inputs and "
          "the\ngrad_outputs that have require_grad(). `eps` covers both, in this order.\n\n"
          "Raises:\n    GradientCheckError: If one differs by more than atol + rtol * |value|.");
}

}  // namespace

void InitBackprop(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    nb::class_<BackpropId>(m, "BackpropId", "Names one graph.")
        .def_prop_ro("name", &BackpropId::GetName)
        .def_prop_ro("context", &BackpropId::context, nb::rv_policy::reference)
        .def("__repr__", &BackpropId::GetName)
        .def("__eq__",
             [](const BackpropId& a, nb::handle b) {
                 return nb::isinstance<BackpropId>(b) && a == nb::cast<BackpropId>(b);
             })
        .def("__hash__", [](const BackpropId& a) { return a.ordinal(); });
    nb::class_<AnyGraph>(m, "AnyGraph");
    m.attr("anygraph") = nb::cast(AnyGraph{});

    BindMode<NoBackpropMode>(m, "NoBackpropMode", "no_backprop_mode");
    BindMode<ForceBackpropMode>(m, "ForceBackpropMode", "force_backprop_mode");
    nb::class_<PyBackpropScope>(m, "BackpropScope")
        .def("__enter__", &PyBackpropScope::Enter)
        .def("__exit__", [](PyBackpropScope& s, nb::args) { s.Exit(); });
    m.def(
        "backprop_scope",
        [](std::string name, Context* context) {
            return new PyBackpropScope{std::move(name),
                                       context != nullptr ? *context : GetDefaultContext()};
        },
        nb::arg("backprop_name"), nb::arg("context") = nb::none());
    m.def(
        "is_backprop_required",
        [](nb::handle x) {
            Context* c;
            if (x.is_none()) return IsBackpropRequired();
            if (nb::try_cast(x, c)) return IsBackpropRequired(*c);
            return IsBackpropRequired(ToScopeId("is_backprop_required", x));
        },
        nb::arg("x") = nb::none());
    m.def(
        "backward",
        [](nb::handle outputs, std::optional<BackpropId> id, bool twice,
           std::optional<double> loss_scale) {
            const std::vector<Array> ys = OneOrMore("backward", "outputs", outputs);
            Backward(Refs(ys), id, Twice(twice), loss_scale);
        },
        nb::arg("outputs"), nb::arg("backprop_id") = nb::none(),
        nb::arg("enable_double_backprop") = false, nb::arg("loss_scale") = nb::none());
    m.def("grad", &PyGrad, nb::arg("outputs"), nb::arg("inputs"),
          nb::arg("backprop_id") = nb::none(), nb::arg("enable_double_backprop") = false,
          nb::arg("set_grad") = false, nb::arg("retain_grad") = false,
          nb::arg("grad_outputs") = nb::none(), nb::arg("loss_scale") = nb::none());
    BindChecks(m);
}

}  // namespace chainerx::python
