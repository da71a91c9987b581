#include "chainerx/python/engine/link_step.h"

#include <structmember.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/link_cells.h"
#include "chainerx/python/engine/link_layers.h"
#include "chainerx/python/engine/link_ops.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/unrecorded.h"

namespace chainerx::python::engine {
namespace {

constexpr size_t kMostStates = 2;
constexpr size_t kMostLayers = 6;
constexpr auto kFunctionCount = static_cast<size_t>(CellFunction::kCount);

// ---- the table of cells -------------------------------------------------------------------------

struct Cell {
    const char* name;
    std::span<const char* const> states;
    std::span<const LayerOfCell> layers;
    std::span<const CellFunction> functions;
    void (*of_arrays)(const ArrayOps& ops, Array* states, const Array& x);
    void (*of_variables)(const VariableOps& ops, Ref* states, const Ref& x);
};

template <typename T>
constexpr Cell CellOf() {
    static_assert(T::kStates.size() <= kMostStates && T::kLayers.size() <= kMostLayers);
    return {T::kName,
            T::kStates,
            T::kLayers,
            T::kFunctions,
            &T::template Run<ArrayOps>,
            &T::template Run<VariableOps>};
}

constexpr Cell kCells[] = {CellOf<LstmCell>(), CellOf<GruCell>(), CellOf<MguCell>(),
                           CellOf<PeepholeCell>()};

struct StepObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    const struct Cell* cell;
    bool keeps_state;
    PyObject* states[kMostStates];  // names, interned
    PyObject* layers[kMostLayers];
    EntryObject* functions[kFunctionCount];  // owned; null for what the cell does not call
    ClassVersion plain;  // of the class of links that was last found to have plain attributes
};

PyObject* g_within_init_scope;  // interned

bool HasAny(PyTypeObject* type, std::span<PyObject* const> names) {
    return std::ranges::any_of(names, [type](PyObject* name) {
        return name != nullptr && _PyType_Lookup(type, name) != nullptr;
    });
}

// Whether all attributes that matter are in the dict of the link, and to set them is to set them
// there: neither it nor a class above has anything of its own in the place of these names.
bool HasPlainAttributes(StepObject* self, PyObject* link) {
    if (self->plain.IsOf(link)) return true;
    PyTypeObject* type = Py_TYPE(link);
    if (type->tp_getattro != PyObject_GenericGetAttr || !HasUsualSetattr(type) ||
        HasAny(type, self->layers)) {
        return false;
    }
    for (PyObject* name : self->states) {
        if (name == nullptr) continue;
        PyObject* value = _PyType_Lookup(type, name);
        if (value != nullptr && value != Py_None) return false;
    }
    self->plain = ClassVersion::Of(link);
    return true;
}

// ---- one call -----------------------------------------------------------------------------------

class Step {
 public:
    Step(StepObject* self, PyObject* link) : self_{self}, cell_{*self->cell}, link_{link} {
        if (PyType_HasFeature(Py_TYPE(link), Py_TPFLAGS_HEAPTYPE)) {
            dict_ = Check(PyObject_GenericGetDict(link, nullptr));
        }
    }

    // Of what the link keeps.
    void ReadStates() {
        const bool is_plain = HasPlainAttributes(self_, link_);
        for (size_t i = 0; i < n_states(); ++i) {
            PyObject* name = self_->states[i];
            PyObject* value = is_plain ? Find(dict_.get(), name) : nullptr;
            if (!is_plain) {
                states_[i] = Check(PyObject_GetAttr(link_, name));
            } else {
                states_[i] = Ref{Py_NewRef(value != nullptr ? value : Py_None)};
            }
        }
    }
    void SetStates(PyObject* const* states) {
        for (size_t i = 0; i < n_states(); ++i) states_[i] = Ref{Py_NewRef(states[i])};
    }
    void WriteStates() {
        for (size_t i = 0; i < n_states(); ++i) {
            const bool is_plain = HasPlainAttributes(self_, link_) && !IsWithinInitScope();
            const int failed = is_plain
                                   ? PyDict_SetItem(dict_.get(), self_->states[i], states_[i].get())
                                   : PyObject_SetAttr(link_, self_->states[i], states_[i].get());
            if (failed != 0) throw PythonError{};
        }
    }

    // Replaces the states. False, and none is replaced, where the link has to compute in Python.
    bool Run(const Ref& x) {
        if (!dict_ || !IsLinearUsual() || IsObserved(GetState()) || HasOtherLayers()) return false;
        for (size_t i = 0; i < n_states(); ++i) {
            if (states_[i].get() == Py_None) return false;
        }
        for (size_t i = 0; i < cell_.layers.size(); ++i) {
            if (!FindLinear(dict_.get(), self_->layers[i], layers_[i])) return false;
        }
        if (!Records(GetState()) && RunOfArrays(x)) return true;
        if (!FitsFunctions(x)) return false;
        cell_.of_variables({layers_, self_->functions}, states_, x);
        return true;
    }

    // (*states), or the only one. New reference.
    PyObject* TakeStates() {
        if (n_states() == 1) return states_[0].Release();
        Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(n_states())));
        for (size_t i = 0; i < n_states(); ++i) {
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), states_[i].Release());
        }
        return tuple.Release();
    }
    PyObject* TakeOutput() { return states_[n_states() - 1].Release(); }

 private:
    size_t n_states() const { return cell_.states.size(); }

    // That a class puts in the place of children, as a property does.
    bool HasOtherLayers() const {
        return !HasPlainAttributes(self_, link_) && HasAny(Py_TYPE(link_), self_->layers);
    }

    bool IsWithinInitScope() const {
        PyObject* value = Find(dict_.get(), g_within_init_scope);
        return value != nullptr && value != Py_False;
    }

    bool RunOfArrays(const Ref& x) {
        UnrecordedCall call{cell_.name};
        Array states[kMostStates];
        ArrayOps::Parameters layers[kMostLayers];
        Array input;
        if (!call.Take(x.get(), input)) return false;
        for (size_t i = 0; i < n_states(); ++i) {
            if (!call.Take(states_[i].get(), states[i])) return false;
        }
        for (size_t i = 0; i < cell_.layers.size(); ++i) {
            if (!call.Take(layers_[i].w.get(), layers[i].w)) return false;
            if (layers_[i].b.get() == Py_None) continue;
            if (!call.Take(layers_[i].b.get(), layers[i].b.emplace())) return false;
        }
        if (!FitsRoutines(input, states, layers)) return false;
        const NoRecordScope no_record;
        cell_.of_arrays({layers}, states, input);
        Ref wrapped[kMostStates];
        for (size_t i = 0; i < n_states(); ++i) wrapped[i] = Ref{call.Wrap(std::move(states[i]))};
        std::ranges::move(wrapped, states_);
        return true;
    }

    // Whether the shapes are those that the cell is made of. Functions say what is wrong with
    // others.
    bool FitsRoutines(const Array& x, const Array* states,
                      const ArrayOps::Parameters* layers) const {
        if (x.ndim() != 2) return false;
        const int64_t rows = x.shape()[0];
        const int64_t features = x.shape()[1];
        const Array& last = states[n_states() - 1];
        if (last.ndim() != 2) return false;
        const int64_t units = last.shape()[1];
        const auto is = [](const Array& a, int64_t n, int64_t m) {
            return a.ndim() == 2 && a.shape()[0] == n && a.shape()[1] == m;
        };
        for (size_t i = 0; i < n_states(); ++i) {
            if (!is(states[i], rows, units)) return false;
        }
        for (size_t i = 0; i < cell_.layers.size(); ++i) {
            const LayerOfCell& layer = cell_.layers[i];
            const int64_t outs = layer.outs * units;
            const auto& [w, b] = layers[i];
            if (!is(w, outs, layer.features * features + layer.units * units)) return false;
            if (b.has_value() && (b->ndim() != 1 || b->shape()[0] != outs)) return false;
        }
        return true;
    }

    // Whether a call of each layer comes to one of its function: others first look at the input.
    bool FitsFunctions(const Ref& x) const {
        const int64_t rows = RowsOfMatrix(cell_.name, x.get());
        if (rows < 0) return false;
        for (size_t i = 0; i < n_states(); ++i) {
            if (RowsOfMatrix(cell_.name, states_[i].get()) != rows) return false;
        }
        for (size_t i = 0; i < cell_.layers.size(); ++i) {
            if (RowsOfMatrix(cell_.name, layers_[i].w.get()) < 0) return false;
        }
        return true;
    }

    StepObject* self_;
    const Cell& cell_;
    PyObject* link_;
    Ref dict_;
    Ref states_[kMostStates];
    LinearLayer layers_[kMostLayers];
};

// An error of the computation is that of Python's own way, which says in which layer it is.
bool RunOrForget(Step& step, const Ref& x) {
    try {
        return step.Run(x);
    } catch (...) {
        TranslateException();
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
        PyErr_Clear();
        return false;
    }
}

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<StepObject*>(o);
    const Cell& cell = *self->cell;
    try {
        const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
        const size_t expected = self->keeps_state ? 2 : 2 + cell.states.size();
        // What else links are called with is not ours to say.
        if (n != expected || keywords != nullptr) Py_RETURN_NONE;
        Step step{self, args[0]};
        if (self->keeps_state) {
            step.ReadStates();
        } else {
            step.SetStates(args + 1);
        }
        if (!RunOrForget(step, Ref{Py_NewRef(args[n - 1])})) Py_RETURN_NONE;
        if (!self->keeps_state) return step.TakeStates();
        step.WriteStates();
        return step.TakeOutput();
    } catch (...) {
        TranslateException(cell.name);
        return nullptr;
    }
}

// ---- the type -----------------------------------------------------------------------------------

constexpr Py_ssize_t kBeforeFunctions = 2;  // arguments

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    try {
        const Py_ssize_t n = PyTuple_GET_SIZE(args);
        if (n < kBeforeFunctions || !PyUnicode_Check(PyTuple_GET_ITEM(args, 0)) ||
            !PyBool_Check(PyTuple_GET_ITEM(args, 1)) || keywords != nullptr) {
            throw TypeError{
                "LinkStep: expected the name of a cell, whether links keep its state, and its "
                "functions"};
        }
        const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0));
        if (name == nullptr) throw PythonError{};
        const auto* cell = std::ranges::find(
            kCells, std::string_view{name}, [](const Cell& c) { return std::string_view{c.name}; });
        if (cell == std::end(kCells)) throw ValueError{"LinkStep: there is no cell '", name, "'"};
        if (static_cast<size_t>(n - kBeforeFunctions) != cell->functions.size()) {
            throw TypeError{"LinkStep: there are ",
                            n - kBeforeFunctions,
                            " functions, expected ",
                            cell->functions.size(),
                            " for the cell '",
                            name,
                            "'"};
        }
        Ref o = Check(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<StepObject*>(o.get());
        self->vectorcall = &Vectorcall;
        self->cell = cell;
        self->keeps_state = PyTuple_GET_ITEM(args, 1) == Py_True;
        for (size_t i = 0; i < cell->states.size(); ++i) {
            self->states[i] = Check(PyUnicode_InternFromString(cell->states[i])).Release();
        }
        for (size_t i = 0; i < cell->layers.size(); ++i) {
            self->layers[i] = Check(PyUnicode_InternFromString(cell->layers[i].name)).Release();
        }
        for (size_t i = 0; i < cell->functions.size(); ++i) {
            PyObject* function =
                PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i) + kBeforeFunctions);
            self->functions[static_cast<size_t>(cell->functions[i])] = ToEntry(function);
            Py_INCREF(function);
        }
        return o.Release();
    } catch (...) {
        TranslateException("LinkStep");
        return nullptr;
    }
}

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<StepObject*>(o);
    for (PyObject* name : self->states) Py_XDECREF(name);
    for (PyObject* name : self->layers) Py_XDECREF(name);
    for (EntryObject* function : self->functions) {
        Py_XDECREF(reinterpret_cast<PyObject*>(function));
    }
    PyTypeObject* type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
}

PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(StepObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void InitLinkStep(PyObject* module) {
    g_within_init_scope = Check(PyUnicode_InternFromString("_within_init_scope")).Release();
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_members, g_members},
        {Py_tp_doc,
         const_cast<char*>(
             "LinkStep(cell, keeps_state, *functions)\n--\n\nA step of a recurrent link. Called "
             "with "
             "a link and an input, it replaces the states that the link keeps and returns the "
             "output; or, where it keeps none, called with states between them it returns the next "
             "ones. None, and nothing has changed, where a layer or an input is not the usual "
             "one.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.LinkStep", sizeof(StepObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddObjectRef(module, "LinkStep", type) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine
