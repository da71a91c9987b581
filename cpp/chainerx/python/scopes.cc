// Backprop ids, modes and scopes.
#include "chainerx/autograd/scopes.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "chainerx/core/context.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ids.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// The scope of a mode or a query: a context, or some of its graphs.
struct Scope {
    Context* context;
    uint64_t ids;
};

Scope AllOf(Context& context) { return {&context, ~uint64_t{0}}; }
Scope Some(const std::vector<BackpropId>& ids) {
    return {&internal::ContextOf(ids), internal::IdsOf(ids)};
}

Context* TryContext(PyObject* o) {
    Context* c = nullptr;
    return nb::try_cast(nb::handle{o}, c) ? c : nullptr;
}

Context& ToContext(const char* op, PyObject* o) {
    if (!Given(o)) return GetDefaultContext();
    if (Context* c = TryContext(o)) return *c;
    throw TypeError{op, ": context must be a chainerx.Context, got ", Py_TYPE(o)->tp_name};
}

constexpr const char* kScopeNames[] = {"x", "context", "backprop_id", "backprop_ids"};

// The index of the given argument among the first `n`; at most one may be given. 0 if none was.
int Chosen(const char* op, PyObject* const* a, int n) {
    int which = 0;
    for (int i = 1; i < n; ++i) {
        if (!Given(a[i])) continue;
        if (Given(a[which])) {
            throw TypeError{op,      ": both ",      kScopeNames[which],
                            " and ", kScopeNames[i], " were given, expected one of them"};
        }
        which = i;
    }
    return which;
}

const BackpropId* TryId(PyObject* o) {
    BackpropId* id = nullptr;
    return nb::try_cast(nb::handle{o}, id) ? id : nullptr;
}

// Parses the arguments of a mode.
Scope ToScope(const char* op, PyObject* const* a) {
    const int which = Chosen(op, a, 4);
    PyObject* o = a[which];
    if (!Given(o)) return AllOf(GetDefaultContext());
    if (which == 1) return AllOf(ToContext(op, o));
    if (which == 2) return Some({ToRequiredId(op, "backprop_id", o)});
    if (which == 3) return Some(ToIds(op, "backprop_ids", o));
    if (Context* c = TryContext(o)) return AllOf(*c);
    if (PyList_Check(o) || PyTuple_Check(o)) return Some(ToIds(op, "x", o));
    if (const BackpropId* id = TryId(o)) return Some({*id});
    throw TypeError{op, ": x must be None, a Context, a BackpropId or a list of BackpropIds, got ",
                    Py_TYPE(o)->tp_name};
}

// Implements is_backprop_required.
bool IsRequired(PyObject* const* a) {
    constexpr const char* kOp = "is_backprop_required";
    const int which = Chosen(kOp, a, 3);
    PyObject* o = a[which];
    if (!Given(o)) return IsBackpropRequired();
    if (which == 1) return IsBackpropRequired(ToContext(kOp, o));
    if (which == 2) return IsBackpropRequired(ToRequiredId(kOp, "backprop_id", o));
    if (Context* c = TryContext(o)) return IsBackpropRequired(*c);
    if (const BackpropId* id = TryId(o)) return IsBackpropRequired(*id);
    throw TypeError{kOp, ": x must be None, a Context or a BackpropId, got ", Py_TYPE(o)->tp_name};
}

// no_backprop_mode and force_backprop_mode, entered by `with`, also recursively.
class PyBackpropMode {
 public:
    PyBackpropMode(const Scope& scope, bool enabled) : scope_{scope}, enabled_{enabled} {}
    PyBackpropMode(const PyBackpropMode&) = delete;
    PyBackpropMode& operator=(const PyBackpropMode&) = delete;
    void Enter() {
        entered_.push_back(
            std::make_unique<BackpropModeScope>(*scope_.context, scope_.ids, enabled_));
    }
    void Exit() {
        if (entered_.empty()) throw ChainerxError{"backprop mode: left but not entered"};
        const std::unique_ptr<BackpropModeScope> scope = std::move(entered_.back());
        entered_.pop_back();
        scope->Leave();
    }

 private:
    Scope scope_;
    bool enabled_;
    std::vector<std::unique_ptr<BackpropModeScope>> entered_;
};

class NoBackpropMode : public PyBackpropMode {
 public:
    explicit NoBackpropMode(const Scope& scope) : PyBackpropMode{scope, false} {}
};
class ForceBackpropMode : public PyBackpropMode {
 public:
    explicit ForceBackpropMode(const Scope& scope) : PyBackpropMode{scope, true} {}
};

// backprop_scope; it can be used once.
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

// A new object of a bound class.
PyObject* Owned(auto* o) { return nb::cast(o, nb::rv_policy::take_ownership).release().ptr(); }

#define CX_ARGS_SCOPE                                                                           \
    "Args:\n"                                                                                   \
    "    x (Context, BackpropId or list of BackpropIds): The graphs; None means all of the "    \
    "default context.\n"                                                                        \
    "    context (Context), backprop_id (BackpropId), backprop_ids (list of BackpropIds): The " \
    "same by\n"                                                                                 \
    "        type, instead of ``x``.\n"
#define CX_SIGNATURE_SCOPE                                              \
    "x: Context | BackpropId | Sequence[BackpropId] | None = None, *, " \
    "context: Context | None = None, backprop_id: BackpropId | None = None, "
#define CX_RAISES_SCOPE                                    \
    "Raises:\n"                                            \
    "    TypeError: If two of the arguments were given.\n" \
    "    ChainerxError: If an id has been released."

CX_ROUTINE(no_backprop_mode,
           CX_SIGNATURE_SCOPE "backprop_ids: Sequence[BackpropId] | None = None) -> NoBackpropMode",
           "Context manager in which this thread records no graph.\n\n" CX_ARGS_SCOPE
           "Returns:\n"
           "    NoBackpropMode: The context manager; it is reentrant and can be nested. The "
           "innermost one counts.\n" CX_RAISES_SCOPE) {
    return Owned(new NoBackpropMode{ToScope("no_backprop_mode", a)});
}

CX_ROUTINE(force_backprop_mode,
           CX_SIGNATURE_SCOPE
           "backprop_ids: Sequence[BackpropId] | None = None) -> ForceBackpropMode",
           "Context manager in which this thread records graphs, even inside "
           ":func:`no_backprop_mode`.\n\n" CX_ARGS_SCOPE
           "Returns:\n"
           "    ForceBackpropMode: The context manager; it is reentrant and can be nested. The "
           "innermost one counts.\n" CX_RAISES_SCOPE) {
    return Owned(new ForceBackpropMode{ToScope("force_backprop_mode", a)});
}

CX_ROUTINE(is_backprop_required,
           "x: Context | BackpropId | None = None, *, context: Context | None = None, "
           "backprop_id: BackpropId | None = None) -> bool",
           "Whether this thread records operations in a graph.\n\n"
           "Args:\n"
           "    x (Context or BackpropId): The graph; a context stands for its default one, and "
           "None for the\n"
           "        default context.\n"
           "    context (Context), backprop_id (BackpropId): The same by type, instead of ``x``.\n"
           "Returns:\n"
           "    bool: False inside :func:`no_backprop_mode`.\n" CX_RAISES_SCOPE) {
    return PyBool_FromLong(IsRequired(a));
}

CX_ROUTINE(backprop_scope, "backprop_name: str, context: Context | None = None) -> BackpropScope",
           "Context manager with a graph of its own.\n\n"
           "Args:\n"
           "    backprop_name (str): Name of the id, for messages.\n"
           "    context (Context): Default: the default context.\n"
           "Returns:\n"
           "    BackpropScope: A context manager that yields the :class:`BackpropId`; it can be "
           "entered once. At\n"
           "        the end the id is released, and its graph is gone.\n"
           "Raises:\n"
           "    ChainerxError: On entry, if it was entered before, or if all ids are in use.") {
    constexpr const char* kOp = "backprop_scope";
    return Owned(new PyBackpropScope{std::string{ToString(kOp, "backprop_name", a[0])},
                                     ToContext(kOp, a[1])});
}

template <typename Mode>
void BindMode(nb::module_& m, const char* name, const char* doc) {
    nb::class_<Mode>(m, name, doc)
        .def("__reduce__", &RefuseCopies)
        .def("__enter__", [](Mode& s) { s.Enter(); })
        .def("__exit__", [](Mode& s, nb::args) { s.Exit(); });
}

}  // namespace

void InitBackprop(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    nb::class_<BackpropId>(m, "BackpropId", "Names one graph. See chainerx.backprop_scope().")
        .def("__reduce__", &RefuseCopies)
        .def_prop_ro("name", &BackpropId::GetName, "The name given to chainerx.backprop_scope().")
        .def_prop_ro("context", &BackpropId::context, nb::rv_policy::reference,
                     "The context that owns it.")
        .def("__repr__", &BackpropId::GetName)
        .def("__eq__",
             [](const BackpropId& a, nb::handle b) {
                 return nb::isinstance<BackpropId>(b) && a == nb::cast<BackpropId>(b);
             })
        .def("__hash__", [](const BackpropId& a) { return a.ordinal(); });
    nb::class_<AnyGraph>(m, "AnyGraph", "The class of chainerx.anygraph.")
        .def("__reduce__", [](const AnyGraph&) { return "anygraph"; });  // looked up by its name
    m.attr("anygraph") = nb::cast(AnyGraph{});

    BindMode<NoBackpropMode>(m, "NoBackpropMode", "See chainerx.no_backprop_mode().");
    BindMode<ForceBackpropMode>(m, "ForceBackpropMode", "See chainerx.force_backprop_mode().");
    nb::class_<PyBackpropScope>(m, "BackpropScope", "See chainerx.backprop_scope().")
        .def("__reduce__", &RefuseCopies)
        .def("__enter__", &PyBackpropScope::Enter)
        .def("__exit__", [](PyBackpropScope& s, nb::args) { s.Exit(); });
}

}  // namespace chainerx::python
