#include "chainerx/python/engine/links/link_step.h"

#include <structmember.h>

#include <algorithm>
#include <span>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/links/link_cell_call.h"
#include "chainerx/python/engine/links/link_cell_table.h"
#include "chainerx/python/engine/links/link_layers.h"
#include "chainerx/python/engine/links/link_table.h"
#include "chainerx/python/engine/scopes.h"

namespace chainerx::python::engine {
namespace {

struct StepObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    const struct StepCell* cell;
    bool keeps_state;
    PyObject* states[kMostStates];  // names, interned
    PyObject* layers[kMostLayers];
    PyObject* ratios[kMostStates];
    CellFunctions functions;
    ClassVersion plain;  // of the class of links that was last found to have plain attributes
};

PyObject* g_within_init_scope;  // interned

// Whether layers and ratios are what the link has by these names.
bool AreAttributesInDict(StepObject* self, PyTypeObject* type) {
    return AreInDict(type, self->layers) && AreInDict(type, self->ratios);
}

// Whether all attributes that matter are in the dict of the link, and to set them is to set them
// there: neither it nor a class above has anything of its own in the place of these names.
bool HasPlainAttributes(StepObject* self, PyObject* link) {
    if (self->plain.IsOf(link)) return true;
    PyTypeObject* type = Py_TYPE(link);
    if (!AreAttributesInDict(self, type) || !HasUsualSetattr(type)) return false;
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
    Step(StepObject* self, PyObject* link, PyObject* x)
        : self_{self},
          cell_{*self->cell},
          link_{link},
          call_{cell_.name, cell_.states.size() + 1, cell_.layers.size()} {
        if (PyType_HasFeature(Py_TYPE(link), Py_TPFLAGS_HEAPTYPE)) {
            dict_ = Check(PyObject_GenericGetDict(link, nullptr));
        }
        call_.values[n_states()] = Ref{Py_NewRef(x)};
    }

    // Of what the link keeps.
    void ReadStates() {
        const bool is_plain = HasPlainAttributes(self_, link_);
        for (size_t i = 0; i < n_states(); ++i) {
            PyObject* name = self_->states[i];
            PyObject* value = is_plain ? Find(dict_.get(), name) : nullptr;
            if (!is_plain) {
                state(i) = Check(PyObject_GetAttr(link_, name));
            } else {
                state(i) = Ref{Py_NewRef(value != nullptr ? value : Py_None)};
            }
        }
    }
    void SetStates(PyObject* const* states) {
        for (size_t i = 0; i < n_states(); ++i) state(i) = Ref{Py_NewRef(states[i])};
    }
    void WriteStates() {
        for (size_t i = 0; i < n_states(); ++i) {
            const bool is_plain = HasPlainAttributes(self_, link_) && !IsWithinInitScope();
            const int failed = is_plain
                                   ? PyDict_SetItem(dict_.get(), self_->states[i], state(i).get())
                                   : PyObject_SetAttr(link_, self_->states[i], state(i).get());
            if (failed != 0) throw PythonError{};
        }
    }

    // Replaces the states. False, and none is replaced, where the link has to compute in Python.
    bool Run() {
        if (!dict_ || !AreCellsUsual() || !HasOwnAttributes()) return false;
        for (size_t i = 0; i < n_states(); ++i) {
            if (state(i).get() == Py_None) return false;
        }
        if (!call_.FindLayers(dict_.get(), self_->layers) || !FindRatios()) return false;
        if (!Records(GetState()) && RunOfArrays()) return true;
        if (!call_.FitsFunctions()) return false;
        cell_.of_variables({call_.layers.data(), self_->functions.data(),
                            keeps_at_random_ ? ratio_objects_ : nullptr},
                           &state(0), call_.values[n_states()]);
        return true;
    }

    // (*states), or the only one. New reference.
    PyObject* TakeStates() {
        if (n_states() == 1) return state(0).Release();
        Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(n_states())));
        for (size_t i = 0; i < n_states(); ++i) {
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), state(i).Release());
        }
        return tuple.Release();
    }
    PyObject* TakeOutput() { return state(n_states() - 1).Release(); }

 private:
    size_t n_states() const { return cell_.states.size(); }
    Ref& state(size_t i) { return call_.values[i]; }

    // Not where a class has something in the place of children, as a property is.
    bool HasOwnAttributes() const {
        return HasPlainAttributes(self_, link_) || AreAttributesInDict(self_, Py_TYPE(link_));
    }

    // Of a cell that has some. False where one is not what it should be.
    bool FindRatios() {
        for (size_t i = 0; i < cell_.ratios.size(); ++i) {
            PyObject* ratio = Find(dict_.get(), self_->ratios[i]);
            if (ratio == nullptr || !PyFloat_CheckExact(ratio)) return false;
            ratios_[i] = PyFloat_AS_DOUBLE(ratio);
            if (!(ratios_[i] >= 0 && ratios_[i] <= 1)) return false;
            ratio_objects_[i] = Ref{Py_NewRef(ratio)};
        }
        keeps_at_random_ = !cell_.ratios.empty() && IsTraining();
        return true;
    }

    bool IsWithinInitScope() const {
        PyObject* value = Find(dict_.get(), g_within_init_scope);
        return value != nullptr && value != Py_False;
    }

    bool RunOfArrays() {
        CellArrays arrays{call_};
        if (!arrays.Take(call_, cell_.layers)) return false;
        const NoRecordScope no_record;
        cell_.of_arrays(arrays.ops(keeps_at_random_ ? ratios_ : nullptr), arrays.values.data(),
                        arrays.values[n_states()]);
        Ref wrapped[kMostStates];
        for (size_t i = 0; i < n_states(); ++i) {
            wrapped[i] = arrays.Wrap(std::move(arrays.values[i]));
        }
        std::move(wrapped, wrapped + n_states(), &state(0));
        return true;
    }

    StepObject* self_;
    const StepCell& cell_;
    PyObject* link_;
    Ref dict_;
    CellCall call_;
    bool keeps_at_random_{false};
    double ratios_[kMostStates];
    Ref ratio_objects_[kMostStates];
};

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<StepObject*>(o);
    const StepCell& cell = *self->cell;
    try {
        const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
        const size_t expected = self->keeps_state ? 2 : 2 + cell.states.size();
        // What else links are called with is not ours to say.
        if (n != expected || keywords != nullptr) Py_RETURN_NONE;
        Step step{self, args[0], args[n - 1]};
        if (self->keeps_state) {
            step.ReadStates();
        } else {
            step.SetStates(args + 1);
        }
        if (!RunOrForget([&] { return step.Run(); })) Py_RETURN_NONE;
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
        if (PyTuple_GET_SIZE(args) < kBeforeFunctions ||
            !PyUnicode_Check(PyTuple_GET_ITEM(args, 0)) ||
            !PyBool_Check(PyTuple_GET_ITEM(args, 1)) || keywords != nullptr) {
            throw TypeError{
                "LinkStep: expected the name of a cell, whether links keep its state, and its "
                "functions"};
        }
        const StepCell& cell = FindRow("LinkStep", "cell", std::span<const StepCell>{kCells},
                                       PyTuple_GET_ITEM(args, 0));
        Ref o = Check(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<StepObject*>(o.get());
        self->vectorcall = &Vectorcall;
        self->cell = &cell;
        self->keeps_state = PyTuple_GET_ITEM(args, 1) == Py_True;
        for (size_t i = 0; i < cell.states.size(); ++i) {
            self->states[i] = Check(PyUnicode_InternFromString(cell.states[i])).Release();
        }
        for (size_t i = 0; i < cell.layers.size(); ++i) {
            self->layers[i] = Check(PyUnicode_InternFromString(cell.layers[i].name)).Release();
        }
        for (size_t i = 0; i < cell.ratios.size(); ++i) {
            self->ratios[i] = Check(PyUnicode_InternFromString(cell.ratios[i])).Release();
        }
        self->functions.Take("LinkStep", cell, args, kBeforeFunctions);
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
    for (PyObject* name : self->ratios) Py_XDECREF(name);
    self->functions.Clear();
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
