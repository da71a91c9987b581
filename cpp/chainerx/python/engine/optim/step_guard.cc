#include "chainerx/python/engine/optim/step_guard.h"

#include <algorithm>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/optim/parameter_cache.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {
namespace {

// Names of attributes, interned by InitStepGuard.
struct {
    PyObject* t;
    PyObject* target;
    PyObject* update;
    PyObject* update_rule;
    PyObject* state;
    PyObject* enabled;
    PyObject* hyperparam;
    PyObject* hookable;
    PyObject* pre_hooks;
    PyObject* post_hooks;
    PyObject* parent;
    PyObject* initial_alpha;
    PyObject* is_dynamic;
} g_names;

Ref Keep(PyObject* o) { return Ref{Py_XNewRef(o)}; }

// Whether an attribute is what stands in the dict of an object, for reading and writing.
bool IsInDict(PyObject* o, PyObject* name) {
    if (Py_TYPE(o)->tp_setattro != PyObject_GenericSetAttr) return false;
    PyObject* of_class = _PyType_Lookup(Py_TYPE(o), name);
    return of_class == nullptr || Py_TYPE(of_class)->tp_descr_set == nullptr;
}

bool IsNone(PyObject* o) { return o == nullptr || o == Py_None; }

// The two dicts of hooks of a rule or an optimizer; false if there is no such thing.
bool FindHooks(PyObject* dict, Ref& pre, Ref& post) {
    const Ref hookable = Keep(Find(dict, g_names.hookable));
    if (IsNone(hookable.get())) return false;
    const Ref hooks{PyObject_GenericGetDict(hookable.get(), nullptr)};
    if (!hooks) {
        PyErr_Clear();
        return false;
    }
    pre = Keep(Find(hooks.get(), g_names.pre_hooks));
    post = Keep(Find(hooks.get(), g_names.post_hooks));
    return pre && post && PyDict_CheckExact(pre.get()) && PyDict_CheckExact(post.get());
}

bool IsEmpty(PyObject* dict) { return PyDict_GET_SIZE(dict) == 0; }

// Borrowed; None without one. Null if only Python can tell what an update of the parameter does.
PyObject* RuleOf(PyObject* param) {
    PyObject* dict = AsVariable(param)->dict;
    if (dict == nullptr) return Py_None;
    if (!HasPlainKeys(dict) || Find(dict, g_names.update) != nullptr) return nullptr;
    PyObject* rule = Find(dict, g_names.update_rule);
    return rule != nullptr ? rule : Py_None;
}

// Whether an update would find the gradient that it is to have, with nothing to divide it by.
bool HasGradient(PyObject* param) {
    const VariableObject* v = AsVariable(param);
    if (v->loss_scale != nullptr) return false;
    if (v->storage->object == Py_None) return true;
    internal::Slot* slot = CurrentSlot(v);
    return slot != nullptr && !slot->GetGrad(GraphBit()).is_null();
}

// What never changes, so that the object stands for its value.
bool IsNumber(PyObject* o) {
    return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || o == Py_None;
}

bool IsSame(PyObject* count, PyObject* other) {
    if (count == other) return true;
    if (!PyLong_CheckExact(count) || !PyLong_CheckExact(other)) return false;
    return PyObject_RichCompareBool(count, other, Py_EQ) > 0;
}

}  // namespace

bool StepGuard::AddRule(PyObject* o, PyObject* param) {
    Rule rule{};
    for (PyObject* name : {g_names.t, g_names.state, g_names.enabled, g_names.hyperparam}) {
        if (!IsInDict(o, name)) return false;
    }
    rule.rule = Keep(o);
    rule.type = ClassVersion::Of(o);
    rule.param_type = ClassVersion::Of(param);
    rule.dict = Check(PyObject_GenericGetDict(o, nullptr));
    rule.size = PyDict_GET_SIZE(rule.dict.get());
    rule.state = Keep(Find(rule.dict.get(), g_names.state));
    rule.hyperparam = Keep(Find(rule.dict.get(), g_names.hyperparam));
    rule.alpha = Keep(Find(rule.dict.get(), g_names.initial_alpha));
    if (!rule.hyperparam || !rule.state ||
        !FindHooks(rule.dict.get(), rule.pre_hooks, rule.post_hooks)) {
        return false;
    }
    if (!Py_IS_TYPE(rule.hyperparam.get(),
                    reinterpret_cast<PyTypeObject*>(g_callbacks.hyperparameter_class))) {
        return false;
    }
    rule.own_values = Check(PyObject_GenericGetDict(rule.hyperparam.get(), nullptr));
    PyObject* parent = Find(rule.own_values.get(), g_names.parent);
    if (IsNone(parent)) return false;
    if (!parent_) parent_ = Keep(parent);
    rules_.push_back(std::move(rule));
    PyObject* t = CountOfRules();
    return t != nullptr && HoldsRule(rules_.back(), t);
}

// The number of updates of the first rule; null unless it is an integer, and can be told without
// running code.
PyObject* StepGuard::CountOfRules() const {
    const Rule& rule = rules_.front();
    PyObject* dict = rule.dict.get();
    if (count_ && rule.version.IsOf(dict)) return count_.get();
    PyObject* t = HasPlainKeys(dict) ? Find(dict, g_names.t) : nullptr;
    return t != nullptr && PyLong_CheckExact(t) ? t : nullptr;
}

// What can be told from the dict of a rule, apart from the hooks.
bool StepGuard::HoldsDict(const Rule& rule, PyObject* t) const {
    PyObject* dict = rule.dict.get();
    if (!HasPlainKeys(dict)) return false;
    PyObject* count = Find(dict, g_names.t);
    return PyDict_GET_SIZE(dict) == rule.size && count != nullptr && IsSame(count, t) &&
           Find(dict, g_names.state) == rule.state.get() &&
           Find(dict, g_names.enabled) == Py_True &&
           Find(dict, g_names.hyperparam) == rule.hyperparam.get() &&
           (!rule.alpha || Find(dict, g_names.initial_alpha) == rule.alpha.get());
}

bool StepGuard::IsRuleOf(const Rule& rule, PyObject* param) {
    PyObject* dict = AsVariable(param)->dict;
    if (!rule.param_type.IsOf(param)) return false;
    if (dict != nullptr && rule.param_version.IsOf(dict)) return true;
    if (RuleOf(param) != rule.rule.get()) return false;
    rule.param_version = DictVersion{dict};
    return true;
}

bool StepGuard::HoldsRule(const Rule& rule, PyObject* t) const {
    const bool is_known = t == count_.get() && rule.version.IsOf(rule.dict.get());
    if (!is_known && !HoldsDict(rule, t)) return false;
    PyObject* values = rule.own_values.get();
    if (!rule.own_version.IsOf(values)) {
        if (PyDict_GET_SIZE(values) != 1 || !HasPlainKeys(values) ||
            Find(values, g_names.parent) != parent_.get()) {
            return false;
        }
        rule.own_version = DictVersion{values};
    }
    return rule.type.IsOf(rule.rule.get()) && IsEmpty(rule.pre_hooks.get()) &&
           IsEmpty(rule.post_hooks.get());
}

bool StepGuard::AddIdle(PyObject* param) {
    if (!IsInDict(param, g_names.update_rule)) return false;
    Idle idle{};
    idle.param = Keep(param);
    idle.type = ClassVersion::Of(param);
    PyObject* rule = RuleOf(param);
    if (rule == nullptr) return false;
    if (rule != Py_None) {
        if (!IsInDict(rule, g_names.enabled)) return false;
        idle.rule = Keep(rule);
        idle.dict = Check(PyObject_GenericGetDict(rule, nullptr));
    }
    idle_.push_back(std::move(idle));
    return HoldsIdle(idle_.back());
}

bool StepGuard::HoldsIdle(const Idle& idle) {
    PyObject* rule = RuleOf(idle.param.get());
    if (!idle.type.IsOf(idle.param.get()) || !HasGradient(idle.param.get())) return false;
    if (!idle.rule) return rule == Py_None;
    return rule == idle.rule.get() && HasPlainKeys(idle.dict.get()) &&
           Find(idle.dict.get(), g_names.enabled) == Py_False;
}

bool StepGuard::Begin(PyObject* optimizer, const std::vector<PyObject*>& params, PyObject* rules) {
    // To look at things may run code that comes here again.
    StepGuard fresh;
    if (!fresh.Add(optimizer, params, rules)) fresh = StepGuard{};
    const StepGuard old = std::exchange(*this, std::move(fresh));
    return !rules_.empty();
}

bool StepGuard::Add(PyObject* optimizer, const std::vector<PyObject*>& params, PyObject* rules) {
    for (PyObject* name : {g_names.t, g_names.target, g_names.hookable, g_names.is_dynamic}) {
        if (!IsInDict(optimizer, name)) return false;
    }
    const Ref dict = Check(PyObject_GenericGetDict(optimizer, nullptr));
    const Ref target = Keep(Find(dict.get(), g_names.target));
    const ParameterCache* cache = !IsNone(target.get()) ? ParameterCacheOf(target.get()) : nullptr;
    const Items of_params{rules};
    if (cache == nullptr || params.size() != static_cast<size_t>(of_params.size())) return false;
    params_version_ = cache->version();
    std::vector<Ref> distinct;
    for (PyObject* param : cache->distinct()) distinct.push_back(Keep(param));
    size_t n = 0;
    for (const Ref& held : distinct) {
        PyObject* param = held.get();
        const bool is_next = n < params.size() && params[n] == param;
        if (is_next && !IsInDict(param, g_names.update_rule)) return false;
        const bool fits =
            is_next ? AddRule(of_params[static_cast<Py_ssize_t>(n++)], param) : AddIdle(param);
        if (!fits) return false;
    }
    params_ = params;
    optimizer_type_ = ClassVersion::Of(optimizer);
    return n == params.size();
}

void StepGuard::End() {
    // What goes may run code that comes here again.
    const StepGuard old = std::exchange(*this, StepGuard{});
}

std::optional<StepGuard::Counts> StepGuard::Next(PyObject* optimizer) const {
    static PyObject* const one = PyLong_FromLong(1);
    if (rules_.empty()) return std::nullopt;
    // To look at the optimizer may run code, which may end the guard; to look at the rules, after
    // that, does not.
    const Ref dict = Check(PyObject_GenericGetDict(optimizer, nullptr));
    Ref pre;
    Ref post;
    if (!FindHooks(dict.get(), pre, post)) return std::nullopt;
    PyObject* is_dynamic = Find(dict.get(), g_names.is_dynamic);
    if (is_dynamic != nullptr && is_dynamic != Py_False) return std::nullopt;
    PyObject* count = Find(dict.get(), g_names.t);
    if (count == nullptr || !PyLong_CheckExact(count)) return std::nullopt;
    Counts next{{}, Check(PyNumber_Add(count, one))};
    const Ref target = Keep(Find(dict.get(), g_names.target));
    const ParameterCache* cache = !IsNone(target.get()) ? ParameterCacheOf(target.get()) : nullptr;
    if (cache == nullptr || cache->version() != params_version_) return std::nullopt;
    if (!IsEmpty(pre.get()) || !IsEmpty(post.get())) return std::nullopt;
    if (!optimizer_type_.IsOf(optimizer) || !HoldRules()) return std::nullopt;
    next.rules = Check(PyNumber_Add(CountOfRules(), one));
    return next;
}

// Whether the rules are what they were, and all count alike.
bool StepGuard::HoldRules() const {
    if (rules_.empty()) return false;
    PyObject* t = CountOfRules();
    if (t == nullptr) return false;
    for (size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (AsVariable(params_[i])->loss_scale != nullptr) return false;
        if (!IsRuleOf(rule, params_[i]) || !HoldsRule(rule, t)) return false;
    }
    return std::all_of(idle_.begin(), idle_.end(), &HoldsIdle);
}

void StepGuard::KeepHyperparameters() {
    has_values_ = false;
    std::vector<Values> kept;
    for (Ref set = Keep(parent_.get()); !IsNone(set.get());) {
        auto* type = reinterpret_cast<PyTypeObject*>(g_callbacks.hyperparameter_class);
        if (!Py_IS_TYPE(set.get(), type)) return;
        Values values;
        values.dict = Check(PyObject_GenericGetDict(set.get(), nullptr));
        PyObject* key;
        PyObject* value;
        for (Py_ssize_t i = 0; PyDict_Next(values.dict.get(), &i, &key, &value) != 0;) {
            const bool is_private = PyUnicode_Check(key) && PyUnicode_READ_CHAR(key, 0) == '_';
            if (!IsNumber(value) && !is_private) return;
            values.items.emplace_back(Py_NewRef(key));
            values.items.emplace_back(Py_NewRef(value));
        }
        set = Keep(Find(values.dict.get(), g_names.parent));
        kept.push_back(std::move(values));
    }
    values_.swap(kept);  // what goes may run code that comes here again
    has_values_ = true;
}

bool StepGuard::HasHyperparameters() const {
    if (!has_values_) return false;
    for (const Values& values : values_) {
        PyObject* dict = values.dict.get();
        if (static_cast<size_t>(PyDict_GET_SIZE(dict)) * 2 != values.items.size()) return false;
        PyObject* key;
        PyObject* value;
        size_t n = 0;
        for (Py_ssize_t i = 0; PyDict_Next(dict, &i, &key, &value) != 0; n += 2) {
            if (values.items[n].get() != key || values.items[n + 1].get() != value) return false;
        }
    }
    return true;
}

void StepGuard::Set(PyObject* optimizer, const Counts& counts) {
    // The keys are there, so that nothing is allocated, and nothing can fail halfway.
    count_ = Keep(counts.rules.get());
    for (size_t i = 0; i < rules_.size(); ++i) {
        const Ref dict = Keep(rules_[i].dict.get());
        if (PyDict_SetItem(dict.get(), g_names.t, counts.rules.get()) < 0) throw PythonError{};
        if (i < rules_.size()) rules_[i].version = DictVersion{dict.get()};
    }
    const Ref dict = Check(PyObject_GenericGetDict(optimizer, nullptr));
    if (PyDict_SetItem(dict.get(), g_names.t, counts.optimizer.get()) < 0) throw PythonError{};
}

int StepGuard::Traverse(visitproc visit, void* arg) const {
    for (const Rule& rule : rules_) {
        Py_VISIT(rule.rule.get());
        Py_VISIT(rule.dict.get());
        Py_VISIT(rule.state.get());
        Py_VISIT(rule.hyperparam.get());
        Py_VISIT(rule.own_values.get());
        Py_VISIT(rule.pre_hooks.get());
        Py_VISIT(rule.post_hooks.get());
        Py_VISIT(rule.alpha.get());
    }
    for (const Idle& idle : idle_) {
        Py_VISIT(idle.param.get());
        Py_VISIT(idle.rule.get());
        Py_VISIT(idle.dict.get());
    }
    Py_VISIT(parent_.get());
    for (const Values& values : values_) {
        Py_VISIT(values.dict.get());
        for (const Ref& item : values.items) Py_VISIT(item.get());
    }
    return 0;
}

void InitStepGuard() {
    struct Row {
        PyObject** name;
        const char* text;
    };
    const Row rows[] = {{&g_names.t, "t"},
                        {&g_names.target, "target"},
                        {&g_names.update, "update"},
                        {&g_names.update_rule, "update_rule"},
                        {&g_names.state, "_state"},
                        {&g_names.enabled, "enabled"},
                        {&g_names.hyperparam, "hyperparam"},
                        {&g_names.hookable, "_hookable"},
                        {&g_names.pre_hooks, "_pre_update_hooks"},
                        {&g_names.post_hooks, "_post_update_hooks"},
                        {&g_names.parent, "_parent"},
                        {&g_names.initial_alpha, "initial_alpha"},
                        {&g_names.is_dynamic, "_loss_scaling_is_dynamic"}};
    for (const Row& row : rows) {
        *row.name = Check(PyUnicode_InternFromString(row.text)).Release();
    }
}

}  // namespace chainerx::python::engine
