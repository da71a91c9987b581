// UpdatePlan: one step of an optimizer for all parameters of a model in one call.
#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/update.h"
#include "chainerx/ops/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/update.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {
namespace {

struct Rule {
    const char* name;
    int n_states;
    int n_numbers;
};

constexpr Rule kRules[] = {
#define CX_UPDATE(Name, name, n_states, n_numbers, ...) {name, n_states, n_numbers},
#include "chainerx/ops/update.def"
#undef CX_UPDATE
};

constexpr int kMaxNumbers = std::ranges::max(kRules, {}, &Rule::n_numbers).n_numbers;
static_assert(std::ranges::max(kRules, {}, &Rule::n_states).n_states == kMaxUpdateStates);

// A parameter, the dict of its rule's state, and what both were when the plan was made.
struct Place {
    Ref param;
    Ref state;  // a dict
    uint32_t version;
    Array side;                    // over the parameter's memory, outside of the graph
    Ref arrays[kMaxUpdateStates];  // the values of the state
    Array states[kMaxUpdateStates];
};

struct PlanObject {
    PyObject_HEAD UpdateRule rule;
    PyObject* keys;  // tuple of names of states
    Device* device;
    std::vector<Place>* places;
    std::vector<internal::Extent>* written;  // by a step, in the order of addresses
    // On the device, made in the first step; and what the host knows to be there.
    Array settings;
    Array step;
    Array numbers;
    double host_settings[kMaxNumbers];
    double host_step;
};

internal::Extent ExtentOf(const Array& x) { return {x.raw_data(), x.raw_data() + x.GetNBytes()}; }

// Whether a step writes to what a contiguous array reads.
bool IsWritten(const PlanObject* plan, const Array& x) {
    const internal::Extent e = ExtentOf(x);
    const auto it = std::upper_bound(
        plan->written->begin(), plan->written->end(), e.begin,
        [](const char* address, const internal::Extent& w) { return address < w.end; });
    return it != plan->written->end() && it->begin < e.end;
}

// Fills in what a step writes. False if it would write twice to one place.
bool FindWritten(PlanObject* plan, int n_states) {
    const auto add = [plan](const Array& x) {
        if (x.GetTotalSize() != 0) plan->written->push_back(ExtentOf(x));
    };
    for (const Place& place : *plan->places) {
        add(place.side);
        for (int k = 0; k < n_states; ++k) add(place.states[k]);
    }
    std::sort(plan->written->begin(), plan->written->end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    return std::adjacent_find(plan->written->begin(), plan->written->end(),
                              [](const auto& a, const auto& b) { return b.begin < a.end; }) ==
           plan->written->end();
}

int FindRule(std::string_view name) {
    for (int i = 0; i < static_cast<int>(UpdateRule::kCount); ++i) {
        if (name == kRules[i].name) return i;
    }
    throw ValueError{"UpdatePlan: there is no rule ", name};
}

// Whether the kernel can work on it in place.
bool IsPlain(const Array& x) {
    return x.IsContiguous() && x.IsWritable() &&
           (x.dtype() == Dtype::kFloat32 || x.dtype() == Dtype::kFloat64);
}

bool IsLike(const Array& x, const Array& y) {
    return x.shape() == y.shape() && x.dtype() == y.dtype() && &x.device() == &y.device();
}

int Clear(PyObject* self) {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    if (plan->places == nullptr) return 0;
    std::vector<Place> places;  // goes when the plan is whole again
    places.swap(*plan->places);
    return 0;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    Py_VISIT(Py_TYPE(self));
    if (plan->places == nullptr) return 0;
    for (const Place& place : *plan->places) {
        Py_VISIT(place.param.get());
        Py_VISIT(place.state.get());
    }
    return 0;
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Clear(self);
    auto* plan = reinterpret_cast<PlanObject*>(self);
    delete plan->places;
    delete plan->written;
    for (Array* x : {&plan->settings, &plan->step, &plan->numbers}) *x = Array{};
    Py_XDECREF(plan->keys);
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

// Adds one parameter. False if the kernel can't update it.
bool AddPlace(PlanObject* plan, PyObject* param, PyObject* state) {
    if (!IsVariable(param) || !PyDict_Check(state)) {
        throw TypeError{"UpdatePlan: expected pairs of a Parameter and a dict"};
    }
    VariableObject* v = AsVariable(param);
    if (v->cell->object == Py_None) return false;
    Place place{};
    place.side = internal::Detached(RecordOf("UpdatePlan", v));
    place.version = v->version;
    if (!IsPlain(place.side)) return false;
    if (plan->device == nullptr) plan->device = &place.side.device();
    if (plan->device != &place.side.device()) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(plan->keys); ++k) {
        Ref array{Py_XNewRef(PyDict_GetItemWithError(state, PyTuple_GET_ITEM(plan->keys, k)))};
        if (!array && PyErr_Occurred() != nullptr) throw PythonError{};
        if (!array || KindOf(array.get()) != v->cell->kind) return false;
        Array side = SideOf("UpdatePlan", array.get());
        if (!IsPlain(side) || !IsLike(side, place.side)) return false;
        place.arrays[k] = std::move(array);
        place.states[k] = std::move(side);
    }
    place.param = Ref{Py_NewRef(param)};
    place.state = Ref{Py_NewRef(state)};
    plan->places->push_back(std::move(place));
    return true;
}

// UpdatePlan(rule, keys, pairs); ValueError if a parameter can't be updated by the kernel.
PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
    const char* name;
    PyObject* keys;
    PyObject* pairs;
    if (!PyArg_ParseTuple(args, "sO!O!:UpdatePlan", &name, &PyTuple_Type, &keys, &PyList_Type,
                          &pairs)) {
        return nullptr;
    }
    Ref self{type->tp_alloc(type, 0)};
    if (!self) return nullptr;
    auto* plan = reinterpret_cast<PlanObject*>(self.get());
    try {
        const int rule = FindRule(name);
        if (PyTuple_GET_SIZE(keys) != kRules[rule].n_states) {
            throw ValueError{
                "UpdatePlan: ",         name,    " has ", kRules[rule].n_states, " states, got ",
                PyTuple_GET_SIZE(keys), " names"};
        }
        plan->rule = static_cast<UpdateRule>(rule);
        plan->keys = Py_NewRef(keys);
        plan->places = new std::vector<Place>;
        plan->written = new std::vector<internal::Extent>;
        const Items items{pairs};
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            PyObject* pair = items[i];
            if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
                throw TypeError{"UpdatePlan: expected pairs of a Parameter and a dict"};
            }
            if (!AddPlace(plan, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1))) {
                throw ValueError{"UpdatePlan: parameter ", i,
                                 " is not a contiguous array of float32 or float64, with states "
                                 "like it, on the device of the others"};
            }
        }
        if (!FindWritten(plan, kRules[rule].n_states)) {
            throw ValueError{"UpdatePlan: parameters or states share memory"};
        }
        return self.Release();
    } catch (...) {
        TranslateException("UpdatePlan");
        return nullptr;
    }
}

// Whether parameter and state are the arrays that the plan was made for.
bool IsCurrent(const PlanObject* plan, const Place& place) {
    const VariableObject* v = AsVariable(place.param.get());
    if (v->cell->version != place.version || v->body == nullptr ||
        v->body->data != place.side.raw_data()) {
        return false;
    }
    const bool is_numpy = v->cell->kind == Kind::kNumpy;
    if (is_numpy && v->cell->object != nullptr && !IsWritableNumpy(v->cell->object)) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(plan->keys); ++k) {
        PyObject* array =
            PyDict_GetItemWithError(place.state.get(), PyTuple_GET_ITEM(plan->keys, k));
        if (array == nullptr && PyErr_Occurred() != nullptr) throw PythonError{};
        if (array != place.arrays[k].get() || (is_numpy && !IsWritableNumpy(array))) return false;
    }
    return true;
}

// Sees to it that the device has the settings, and step t - 1. Most often it has.
void Upload(PlanObject* plan, const double* settings, int n, double t) {
    Device& device = *plan->device;
    const bool is_new = plan->step.is_null();
    if (is_new) {
        plan->settings = EmptyUnchecked({n}, Dtype::kFloat64, device);
        plan->numbers = EmptyUnchecked({n}, Dtype::kFloat64, device);
        plan->step = EmptyUnchecked({}, Dtype::kFloat64, device);
    }
    const size_t nbytes = static_cast<size_t>(n) * sizeof(double);
    if (is_new || std::memcmp(plan->host_settings, settings, nbytes) != 0) {
        std::memcpy(plan->host_settings, settings, nbytes);
        device.CopyFromHost(plan->settings.raw_data(), settings, static_cast<int64_t>(nbytes));
    }
    if (is_new || plan->host_step != t - 1) {
        plan->host_step = t - 1;
        device.CopyFromHost(plan->step.raw_data(), &plan->host_step, sizeof(double));
    }
}

// Says to what belongs to the step that it was done.
void SetCount(PyObject* o, PyObject* t) {
    static PyObject* name = PyUnicode_InternFromString("t");
    if (PyObject_SetAttr(o, name, t) < 0) throw PythonError{};
}

// step(t, settings, rules=[], optimizer=None, optimizer_t=None) -> whether it was done. False, and
// nothing changed, if the plan is out of date, or a gradient is missing or of another shape. With
// the parameters the attributes t of rules and optimizer are set, for a signal that comes now is
// handled afterwards: whoever stops the program with Ctrl-C finds a whole step, or none.
PyObject* Step(PyObject* self, PyObject* const* args, Py_ssize_t n_args) {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    try {
        const Rule& rule = kRules[static_cast<int>(plan->rule)];
        if ((n_args != 2 && n_args != 3 && n_args != 5) || !PyTuple_Check(args[1]) ||
            PyTuple_GET_SIZE(args[1]) != rule.n_numbers || (n_args > 2 && !PyList_Check(args[2]))) {
            throw TypeError{"UpdatePlan.step: expected the number of the update, a tuple of ",
                            rule.n_numbers,
                            " numbers, a list of rules, and an optimizer with the "
                            "number of its update"};
        }
        const double t = ToDouble("UpdatePlan.step", "t", args[0]);
        double settings[kMaxNumbers];
        for (int i = 0; i < rule.n_numbers; ++i) {
            settings[i] = ToDouble("UpdatePlan.step", "settings", PyTuple_GET_ITEM(args[1], i));
        }
        std::vector<ConstArrayRef> params;
        std::vector<ConstArrayRef> states;
        std::vector<ConstArrayRef> grads;
        std::vector<Array> held;  // gradients, alive while the kernel is called
        const size_t n = plan->places->size();
        params.reserve(n);
        states.reserve(n * static_cast<size_t>(rule.n_states));
        grads.reserve(n);
        held.reserve(n);
        for (const Place& place : *plan->places) {
            if (!IsCurrent(plan, place)) Py_RETURN_FALSE;
            internal::Slot* slot = CurrentSlot(AsVariable(place.param.get()));
            Array g = slot != nullptr ? slot->GetGrad(GraphBit()) : Array{};
            if (g.is_null() || !IsLike(g, place.side)) Py_RETURN_FALSE;
            if (!g.IsContiguous()) g = AsContiguous(internal::Detached(g));
            if (IsWritten(plan, g)) Py_RETURN_FALSE;
            params.emplace_back(place.side);
            for (int k = 0; k < rule.n_states; ++k) states.emplace_back(place.states[k]);
            grads.emplace_back(held.emplace_back(std::move(g)));
        }
        const internal::NoInterruptScope all_of_them;
        for (const Place& place : *plan->places) {
            place.side.buffer()->MarkWritten();
            for (int k = 0; k < rule.n_states; ++k) place.states[k].buffer()->MarkWritten();
        }
        if (n != 0) {
            Upload(plan, settings, rule.n_numbers, t);
            CallOn<kernels::UpdateNumbers>(*plan->device, plan->rule, plan->settings, plan->step,
                                           plan->numbers);
            plan->host_step = t;
            using Arrays = std::span<const ConstArrayRef>;
            CallOn<kernels::UpdateParameters>(*plan->device, plan->rule, plan->numbers,
                                              Arrays{grads}, Arrays{states}, Arrays{params});
        }
        if (n_args > 2) {
            const Items rules{args[2]};
            for (Py_ssize_t i = 0; i < rules.size(); ++i) SetCount(rules[i], args[0]);
        }
        if (n_args > 4) SetCount(args[3], args[4]);
        Py_RETURN_TRUE;
    } catch (...) {
        TranslateException("UpdatePlan.step");
        return nullptr;
    }
}

PyMethodDef g_methods[] = {
    {"step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Step)), METH_FASTCALL,
     "Updates all parameters; False, and nothing done, if it can't."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitUpdate(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
        {Py_tp_methods, g_methods},
        {Py_tp_doc, const_cast<char*>("UpdatePlan(rule, keys, pairs of Parameter and state): one "
                                      "step of an optimizer for all of them in one call.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.UpdatePlan", sizeof(PlanObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddObjectRef(module, "UpdatePlan", type) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine
