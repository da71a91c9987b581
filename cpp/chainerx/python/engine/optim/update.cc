// UpdatePlan: one step of an optimizer for all parameters of a model in one call.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/optim/update.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/optim/step_guard.h"
#include "chainerx/python/engine/optim/update.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {
namespace {

struct Rule {
    const char* name;
    int n_states;
    int n_numbers;
};

constexpr Rule kRules[] = {
#define CX_UPDATE(Name, name, n_states, n_numbers, ...) {name, n_states, n_numbers},
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
};

constexpr int kMaxNumbers = std::ranges::max(kRules, {}, &Rule::n_numbers).n_numbers;
static_assert(std::ranges::max(kRules, {}, &Rule::n_states).n_states == kMaxUpdateStates);

// A parameter, the dict of its rule's state, and what both were when the plan was made.
struct Place {
    Ref param;
    Ref state;  // a dict
    uint32_t version;
    Kind kind;
    Array side;                    // over the parameter's memory, outside of the graph
    Ref arrays[kMaxUpdateStates];  // the values of the state
    Array states[kMaxUpdateStates];
    const char* apart{nullptr};  // where the last gradient was that no step writes to
};

struct PlanObject {
    PyObject_HEAD UpdateRule rule;
    uint64_t id;     // unique in the process
    PyObject* keys;  // tuple of names of states
    Device* device;
    std::vector<Place>* places;
    std::vector<internal::Extent>* written;  // by a step, in the order of addresses
    StepGuard* guard;
    // What the kernel is called with; `grads` only during a step.
    std::vector<ConstArrayRef>* params;
    std::vector<ConstArrayRef>* states;
    std::vector<Array>* grads;
    // On the device, made in the first step; and what the host knows to be there.
    Array settings;
    Array step;
    Array numbers;
    double host_settings[kMaxNumbers];
    double host_step;
    double kept_settings[kMaxNumbers];  // of the hyperparameters that are guarded
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
    plan->guard->End();
    plan->params->clear();
    plan->states->clear();
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
    return plan->guard->Traverse(visit, arg);
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Clear(self);
    auto* plan = reinterpret_cast<PlanObject*>(self);
    delete plan->places;
    delete plan->written;
    delete plan->guard;
    delete plan->params;
    delete plan->states;
    delete plan->grads;
    for (Array* x : {&plan->settings, &plan->step, &plan->numbers}) *x = Array{};
    Py_XDECREF(plan->keys);
    FreeInstance(self);
}

// Adds one parameter. False if the kernel can't update it.
bool AddPlace(PlanObject* plan, PyObject* param, PyObject* state) {
    if (!IsVariable(param) || !PyDict_Check(state)) {
        throw TypeError{"UpdatePlan: expected pairs of a Parameter and a dict"};
    }
    VariableObject* v = AsVariable(param);
    if (v->storage->object == Py_None) return false;
    Place place{};
    place.side = internal::Detached(RecordOf("UpdatePlan", v));
    place.version = v->version;
    place.kind = v->storage->kind;
    if (!IsPlain(place.side)) return false;
    if (plan->device == nullptr) plan->device = &place.side.device();
    if (plan->device != &place.side.device()) return false;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(plan->keys); ++k) {
        Ref array{Py_XNewRef(PyDict_GetItemWithError(state, PyTuple_GET_ITEM(plan->keys, k)))};
        if (!array && PyErr_Occurred() != nullptr) throw PythonError{};
        if (!array || KindOf(array.get()) != v->storage->kind) return false;
        Array side = ChainerxArrayOf("UpdatePlan", array.get());
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
        static uint64_t last_id = 0;  // guarded by the GIL
        plan->id = ++last_id;
        plan->keys = Py_NewRef(keys);
        plan->guard = new StepGuard;
        plan->params = new std::vector<ConstArrayRef>;
        plan->states = new std::vector<ConstArrayRef>;
        plan->grads = new std::vector<Array>;
        plan->written = new std::vector<internal::Extent>;
        plan->places = new std::vector<Place>;
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
        for (const Place& place : *plan->places) {
            plan->params->emplace_back(place.side);
            for (int k = 0; k < kRules[rule].n_states; ++k) {
                plan->states->emplace_back(place.states[k]);
            }
        }
        return self.Release();
    } catch (...) {
        return Failed("UpdatePlan");
    }
}

// Whether parameter and state are the arrays that the plan was made for.
bool IsCurrent(const PlanObject* plan, const Place& place) {
    const VariableObject* v = AsVariable(place.param.get());
    // Another array over the same memory may have come with a version of its own.
    if (v->storage->version != place.version || v->storage->kind != place.kind ||
        v->body == nullptr || v->body->data != place.side.raw_data() || !v->body->contiguous) {
        return false;
    }
    const bool is_numpy = place.kind == Kind::kNumpy;
    if (is_numpy && v->storage->object != nullptr && !IsWritableNumpy(v->storage->object))
        return false;
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
    if (HasStepNumbers(plan->rule) && (is_new || plan->host_step != t - 1)) {
        plan->host_step = t - 1;
        device.CopyFromHost(plan->step.raw_data(), &plan->host_step, sizeof(double));
    }
}

// Says to what belongs to the step that it was done.
void SetCount(PyObject* o, PyObject* t) {
    static PyObject* name = PyUnicode_InternFromString("t");
    if (PyObject_SetAttr(o, name, t) < 0) throw PythonError{};
}

// Empties the list of gradients, which live as long as the kernel works.
struct GradsScope {
    std::vector<Array>& grads;
    ~GradsScope() { grads.clear(); }
};

// Finds what a step would take. False if the plan is out of date, or a gradient is missing or of
// another shape.
bool FindGrads(PlanObject* plan, std::vector<Array>& grads) {
    grads.reserve(plan->places->size());
    for (Place& place : *plan->places) {
        if (!IsCurrent(plan, place)) return false;
        internal::Slot* slot = CurrentSlot(AsVariable(place.param.get()));
        Array g = slot != nullptr ? slot->GetGrad(GraphBit()) : Array{};
        if (g.is_null() || !IsLike(g, place.side)) return false;
        if (!g.IsContiguous()) g = AsContiguous(internal::Detached(g));
        if (g.raw_data() != place.apart) {
            if (IsWritten(plan, g)) return false;
            place.apart = g.raw_data();
        }
        grads.push_back(std::move(g));
    }
    return true;
}

// Updates all parameters, and calls `count` with them: a signal that comes meanwhile is handled
// afterwards, so that whoever stops the program with Ctrl-C finds a whole step, or none.
template <typename F>
bool Update(PlanObject* plan, const double* settings, double t, F count) {
    // A step that a signal handler or a destructor takes in the middle of another has its own list.
    std::vector<Array> grads = std::move(*plan->grads);
    const GradsScope scope{grads};
    const bool is_cupy = !plan->places->empty() && plan->places->front().kind == Kind::kCupy;
    const CupyScope cupy{is_cupy};
    if (!FindGrads(plan, grads)) return false;
    const Rule& rule = kRules[static_cast<int>(plan->rule)];
    const internal::NoInterruptScope all_of_them;
    for (const Place& place : *plan->places) {
        // Not the parameter: v7's programs go back through a graph that is older than an update,
        // such as a generator's after its discriminator's step.
        for (int k = 0; k < rule.n_states; ++k) place.states[k].buffer()->MarkWritten();
    }
    if (!plan->places->empty()) {
        {
            const internal::Unobserved by_kernels;  // see PlanPart
            Upload(plan, settings, rule.n_numbers, t);
        }
        const bool has_numbers = HasStepNumbers(plan->rule);
        if (has_numbers) {
            CallOn<kernels::UpdateNumbers>(*plan->device, plan->rule, plan->settings, plan->step,
                                           plan->numbers);
            plan->host_step = t;
        }
        using Arrays = std::span<const ConstArrayRef>;
        const std::vector<ConstArrayRef> g{grads.begin(), grads.end()};
        CallOn<kernels::UpdateParameters>(*plan->device, plan->rule,
                                          has_numbers ? plan->numbers : plan->settings, Arrays{g},
                                          Arrays{*plan->states}, Arrays{*plan->params});
    }
    count();
    grads.clear();
    *plan->grads = std::move(grads);
    return true;
}

bool ToSettings(const PlanObject* plan, PyObject* tuple, double* settings) {
    const int n = kRules[static_cast<int>(plan->rule)].n_numbers;
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != n) return false;
    for (int i = 0; i < n; ++i) {
        settings[i] = ToDouble("UpdatePlan.step", "settings", PyTuple_GET_ITEM(tuple, i));
    }
    return true;
}

// step(t, settings, rules=[]) -> whether it was done. False, and nothing changed, if the plan is
// out of date. With the parameters the attributes t of rules are set.
PyObject* Step(PyObject* self, PyObject* const* args, Py_ssize_t n_args) try {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    double settings[kMaxNumbers];
    if ((n_args != 2 && n_args != 3) || !ToSettings(plan, args[1], settings) ||
        (n_args == 3 && !PyList_Check(args[2]))) {
        throw TypeError{"UpdatePlan.step: expected the number of the update, a tuple of ",
                        kRules[static_cast<int>(plan->rule)].n_numbers,
                        " numbers, and a list of rules"};
    }
    const double t = ToDouble("UpdatePlan.step", "t", args[0]);
    return PyBool_FromLong(Update(plan, settings, t, [&] {
        if (n_args == 2) return;
        const Items rules{args[2]};
        for (Py_ssize_t i = 0; i < rules.size(); ++i) SetCount(rules[i], args[0]);
    }));
} catch (...) {
    return Failed("UpdatePlan.step");
}

// watch(optimizer, rules) -> whether `repeat` will be of use.
PyObject* BeginStepGuard(PyObject* self, PyObject* const* args, Py_ssize_t n_args) try {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    if (n_args != 2 || !PyList_Check(args[1])) {
        throw TypeError{"UpdatePlan.watch: expected an optimizer and a list of rules"};
    }
    std::vector<PyObject*> params;
    for (const Place& place : *plan->places) params.push_back(place.param.get());
    return PyBool_FromLong(plan->guard->Begin(args[0], params, args[1]));
} catch (...) {
    return Failed("UpdatePlan.watch");
}

// What the host does for a step that is replayed: it brings the settings up to date, and counts.
class PlanPart : public ReplayPart {
 public:
    PlanPart(PlanObject* plan, PyObject* optimizer)
        : id_{plan->id}, optimizer_{Check(PyWeakref_NewRef(optimizer, nullptr))} {}

    bool Prepare() override {
        held_ = Check(PyObject_CallNoArgs(optimizer_.get()));
        if (held_.get() == Py_None) return false;
        plan_ = FindPlan();
        if (!plan_) return false;
        PlanObject* plan = this->plan();
        counts_ = plan->guard->Next(held_.get());
        if (!counts_) return false;
        if (!plan->guard->HasHyperparameters() && !ReadSettings()) return false;
        for (const Place& place : *plan->places) {
            if (!IsCurrent(plan, place)) return false;
        }
        t_ = ToDouble("UpdatePlan", "t", counts_->rules.get());
        Upload(plan, plan->kept_settings, kRules[static_cast<int>(plan->rule)].n_numbers, t_);
        return true;
    }

    void Finish(std::span<const Array> /*arrays*/) override {
        if (HasStepNumbers(plan()->rule)) plan()->host_step = t_;
        plan()->guard->Set(held_.get(), *counts_);
        counts_.reset();
        plan_ = Ref{};
        held_ = Ref{};
    }

    bool IsSame(const ReplayPart& o) const override {
        const auto* other = dynamic_cast<const PlanPart*>(&o);
        return other != nullptr && other->id_ == id_;
    }
    Again again() const override { return Again::kRefused; }

 private:
    PlanObject* plan() const { return reinterpret_cast<PlanObject*>(plan_.get()); }

    // Null if the optimizer has made another one.
    Ref FindPlan() const {
        static PyObject* owner_name = PyUnicode_InternFromString("_plan");
        static PyObject* plan_name = PyUnicode_InternFromString("engine_plan");
        const Ref owner = Check(PyObject_GetAttr(held_.get(), owner_name));
        if (owner.get() == Py_None) return Ref{};
        Ref plan = Check(PyObject_GetAttr(owner.get(), plan_name));
        if (reinterpret_cast<PlanObject*>(plan.get())->id != id_) return Ref{};
        return plan;
    }

    // Those of hyperparameters that have changed. False if it is not only their values.
    bool ReadSettings() {
        const Ref module = Check(PyImport_ImportModule("chainer._optim.fused_update"));
        const Ref found =
            Check(PyObject_CallMethod(module.get(), "read_settings", "O", held_.get()));
        double settings[kMaxNumbers];
        if (!ToSettings(plan(), found.get(), settings)) return false;
        plan()->guard->KeepHyperparameters();
        std::ranges::copy(settings, plan()->kept_settings);
        return true;
    }

    uint64_t id_;
    Ref optimizer_;  // a weak reference
    // Of the replay that runs.
    Ref held_;
    Ref plan_;
    std::optional<StepGuard::Counts> counts_;
    double t_{0};
};

// repeat(optimizer, settings=None) -> True: a step like the last one was done, and counted. False:
// something has changed, and nothing was done. None: the same, but only settings are missing, since
// hyperparameters have changed.
PyObject* Repeat(PyObject* self, PyObject* const* args, Py_ssize_t n_args) try {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    double settings[kMaxNumbers];
    if (n_args != 1 && (n_args != 2 || !ToSettings(plan, args[1], settings))) {
        throw TypeError{"UpdatePlan.repeat: expected an optimizer, and settings"};
    }
    PyObject* optimizer = args[0];
    if (n_args == 2) {
        plan->guard->KeepHyperparameters();
        std::ranges::copy(settings, plan->kept_settings);
    }
    const std::optional<StepGuard::Counts> counts = plan->guard->Next(optimizer);
    if (!counts) Py_RETURN_FALSE;
    if (n_args == 1 && !plan->guard->HasHyperparameters()) Py_RETURN_NONE;
    const double t = ToDouble("UpdatePlan.repeat", "t", counts->rules.get());
    return PyBool_FromLong(Update(plan, plan->kept_settings, t, [&] {
        if (auto* capture = internal::CurrentCapture()) {
            capture->Add(std::make_shared<PlanPart>(plan, optimizer));
        }
        plan->guard->Set(optimizer, *counts);
    }));
} catch (...) {
    return Failed("UpdatePlan.repeat");
}

template <typename F>
PyCFunction AsFunction(F* f) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}

// prepare(t, settings): the part of a step that is replayed that the host does before its kernels.
// False, and nothing done, if the plan is out of date.
PyObject* PrepareReplay(PyObject* self, PyObject* const* args, Py_ssize_t n_args) try {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    double settings[kMaxNumbers];
    if (n_args != 2 || !ToSettings(plan, args[1], settings)) Py_RETURN_FALSE;
    for (const Place& place : *plan->places) {
        if (!IsCurrent(plan, place)) Py_RETURN_FALSE;
    }
    const double t = ToDouble("UpdatePlan.prepare", "t", args[0]);
    Upload(plan, settings, kRules[static_cast<int>(plan->rule)].n_numbers, t);
    Py_RETURN_TRUE;
} catch (...) {
    return Failed("UpdatePlan.prepare");
}

// finish(t): says that the kernels of update t were replayed.
PyObject* FinishReplay(PyObject* self, PyObject* t) try {
    auto* plan = reinterpret_cast<PlanObject*>(self);
    if (HasStepNumbers(plan->rule)) plan->host_step = ToDouble("UpdatePlan.finish", "t", t);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("UpdatePlan.finish");
}

PyMethodDef g_methods[] = {
    {"prepare", AsFunction(&PrepareReplay), METH_FASTCALL,
     "Before a replayed step: brings its settings to the device; returns False if it can't be."},
    {"finish", &FinishReplay, METH_O, "After a replayed step: counts it."},
    {"step", AsFunction(&Step), METH_FASTCALL,
     "Updates all parameters; returns False, without any change, if it can't."},
    {"watch", AsFunction(&BeginStepGuard), METH_FASTCALL,
     "Watches an optimizer and its rules for changes from now on."},
    {"repeat", AsFunction(&Repeat), METH_FASTCALL,
     "Repeats the step if nothing was changed; None if only settings are missing."},
    {nullptr, nullptr, 0, nullptr}};

// The arrays of a list, outside of the graph; false if the kernel can't take one.
bool FindArrays(PyObject* list, std::vector<Array>& arrays) {
    const Items items{list};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (!IsNdArray(items[i])) return false;
        const Array x = internal::Detached(Self(items[i]));
        if (!IsFloat(x.dtype()) || !x.IsContiguous()) return false;
        arrays.push_back(x);
        const Array& first = arrays.front();
        if (x.dtype() != first.dtype() || &x.device() != &first.device()) return false;
    }
    return true;
}

// cast_all(xs, outs, keeps): whether it was done; see kernels/optim/update.def. False if the device
// has no such kernel, or for arrays that it can't take.
PyObject* CastAll(PyObject*, PyObject* const* args, Py_ssize_t n_args) try {
    if (n_args != 3 || !PyList_Check(args[0]) || !PyList_Check(args[1])) {
        throw TypeError{"cast_all: expected two lists of arrays, and a bool"};
    }
    std::vector<Array> xs;
    std::vector<Array> outs;
    if (!FindArrays(args[0], xs) || !FindArrays(args[1], outs)) Py_RETURN_FALSE;
    if (xs.size() != outs.size() || xs.empty()) Py_RETURN_FALSE;
    Device& device = outs.front().device();
    if (&xs.front().device() != &device || !HasKernel<kernels::CastAll>(device)) Py_RETURN_FALSE;
    for (size_t i = 0; i < xs.size(); ++i) {
        if (xs[i].shape() != outs[i].shape() || !outs[i].IsWritable()) Py_RETURN_FALSE;
    }
    for (const Array& out : outs) out.buffer()->MarkWritten();
    using Arrays = std::span<const ConstArrayRef>;
    const std::vector<ConstArrayRef> from{xs.begin(), xs.end()};
    const std::vector<ConstArrayRef> to{outs.begin(), outs.end()};
    CallOn<kernels::CastAll>(device, args[2] == Py_True, Arrays{from}, Arrays{to});
    Py_RETURN_TRUE;
} catch (...) {
    return Failed("cast_all");
}

PyMethodDef g_functions[] = {
    {"cast_all", AsFunction(&CastAll), METH_FASTCALL,
     "Casts the arrays of one list into those of another; returns False where it can't."},
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
    AddType(module, spec, g_functions);
}

}  // namespace chainerx::python::engine
