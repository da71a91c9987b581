#include "chainerx/python/engine/watch.h"

#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/engine/walk.h"

namespace chainerx::python::engine {
namespace {

// Names of attributes, interned by InitWatch.
struct {
    PyObject* t;
    PyObject* target;
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
bool FindHooks(PyObject* dict, PyObject*& pre, PyObject*& post) {
    PyObject* hookable = Find(dict, g_names.hookable);
    if (IsNone(hookable)) return false;
    const Ref hooks{PyObject_GenericGetDict(hookable, nullptr)};
    if (!hooks) {
        PyErr_Clear();
        return false;
    }
    pre = Find(hooks.get(), g_names.pre_hooks);
    post = Find(hooks.get(), g_names.post_hooks);
    return pre != nullptr && post != nullptr && PyDict_CheckExact(pre) && PyDict_CheckExact(post);
}

bool IsEmpty(PyObject* dict) { return PyDict_GET_SIZE(dict) == 0; }

PyObject* RuleOf(PyObject* param) {
    PyObject* dict = AsVariable(param)->dict;
    return dict != nullptr ? Find(dict, g_names.update_rule) : nullptr;
}

// Whether an update would find the gradient that it is to have, with nothing to divide it by.
bool HasGradient(PyObject* param) {
    const VariableObject* v = AsVariable(param);
    if (v->loss_scale != nullptr) return false;
    if (v->cell->object == Py_None) return true;
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

bool Watch::AddRule(PyObject* o) {
    Rule rule{};
    for (PyObject* name : {g_names.t, g_names.state, g_names.enabled, g_names.hyperparam}) {
        if (!IsInDict(o, name)) return false;
    }
    rule.rule = Keep(o);
    rule.type = ClassVersion::Of(o);
    rule.dict = Check(PyObject_GenericGetDict(o, nullptr));
    rule.size = PyDict_GET_SIZE(rule.dict.get());
    rule.state = Keep(Find(rule.dict.get(), g_names.state));
    rule.hyperparam = Keep(Find(rule.dict.get(), g_names.hyperparam));
    rule.alpha = Keep(Find(rule.dict.get(), g_names.initial_alpha));
    PyObject* pre;
    PyObject* post;
    if (!rule.hyperparam || !rule.state || !FindHooks(rule.dict.get(), pre, post)) return false;
    rule.pre_hooks = Keep(pre);
    rule.post_hooks = Keep(post);
    if (!Py_IS_TYPE(rule.hyperparam.get(),
                    reinterpret_cast<PyTypeObject*>(g_callbacks.hyperparameter_class))) {
        return false;
    }
    rule.own_values = Check(PyObject_GenericGetDict(rule.hyperparam.get(), nullptr));
    PyObject* parent = Find(rule.own_values.get(), g_names.parent);
    if (IsNone(parent)) return false;
    if (!parent_) parent_ = Keep(parent);
    PyObject* t = Find(rule.dict.get(), g_names.t);
    if (t == nullptr || !PyLong_CheckExact(t)) return false;
    rules_.push_back(std::move(rule));
    return HoldsRule(rules_.back(), Find(rules_.front().dict.get(), g_names.t));
}

// What can be told from the dict of a rule, apart from the hooks.
bool Watch::HoldsDict(const Rule& rule, PyObject* t) const {
    PyObject* dict = rule.dict.get();
    PyObject* count = Find(dict, g_names.t);
    return PyDict_GET_SIZE(dict) == rule.size && count != nullptr && IsSame(count, t) &&
           Find(dict, g_names.state) == rule.state.get() &&
           Find(dict, g_names.enabled) == Py_True &&
           Find(dict, g_names.hyperparam) == rule.hyperparam.get() &&
           (!rule.alpha || Find(dict, g_names.initial_alpha) == rule.alpha.get());
}

bool Watch::IsRuleOf(const Rule& rule, PyObject* param) {
    PyObject* dict = AsVariable(param)->dict;
    if (dict != nullptr && rule.param_version.IsOf(dict)) return true;
    if (RuleOf(param) != rule.rule.get()) return false;
    rule.param_version = DictVersion{dict};
    return true;
}

bool Watch::HoldsRule(const Rule& rule, PyObject* t) const {
    const bool is_known = t == count_.get() && rule.version.IsOf(rule.dict.get());
    if (!is_known && !HoldsDict(rule, t)) return false;
    PyObject* values = rule.own_values.get();
    if (!rule.own_version.IsOf(values)) {
        if (PyDict_GET_SIZE(values) != 1 || Find(values, g_names.parent) != parent_.get()) {
            return false;
        }
        rule.own_version = DictVersion{values};
    }
    return rule.type.IsOf(rule.rule.get()) && IsEmpty(rule.pre_hooks.get()) &&
           IsEmpty(rule.post_hooks.get());
}

bool Watch::AddIdle(PyObject* param) {
    if (!IsInDict(param, g_names.update_rule)) return false;
    Idle idle{};
    idle.param = Keep(param);
    PyObject* rule = RuleOf(param);
    if (!IsNone(rule)) {
        if (!IsInDict(rule, g_names.enabled)) return false;
        idle.rule = Keep(rule);
        idle.dict = Check(PyObject_GenericGetDict(rule, nullptr));
    }
    idle_.push_back(std::move(idle));
    return HoldsIdle(idle_.back());
}

bool Watch::HoldsIdle(const Idle& idle) {
    PyObject* rule = RuleOf(idle.param.get());
    if (!HasGradient(idle.param.get())) return false;
    if (!idle.rule) return IsNone(rule);
    return rule == idle.rule.get() && Find(idle.dict.get(), g_names.enabled) == Py_False;
}

bool Watch::Begin(PyObject* optimizer, const std::vector<PyObject*>& params, PyObject* rules) {
    End();
    for (PyObject* name : {g_names.t, g_names.target, g_names.hookable, g_names.is_dynamic}) {
        if (!IsInDict(optimizer, name)) return false;
    }
    PyObject* target = Find(DictOf(optimizer), g_names.target);
    const Walk* walk = !IsNone(target) ? WalkOf(target) : nullptr;
    if (walk == nullptr || params.size() != static_cast<size_t>(PyList_GET_SIZE(rules))) {
        return false;
    }
    walk_version_ = walk->version();
    size_t n = 0;
    const std::vector<PyObject*> distinct = walk->distinct();
    for (PyObject* param : distinct) {
        const bool is_next = n < params.size() && params[n] == param;
        if (is_next && !IsInDict(param, g_names.update_rule)) return false;
        const bool fits = is_next ? AddRule(PyList_GET_ITEM(rules, static_cast<Py_ssize_t>(n++)))
                                  : AddIdle(param);
        if (!fits) {
            End();
            return false;
        }
    }
    if (n != params.size()) {
        End();
        return false;
    }
    params_ = params;
    optimizer_type_ = ClassVersion::Of(optimizer);
    return true;
}

void Watch::End() {
    // What goes may run code that comes here again.
    const Watch old = std::exchange(*this, Watch{});
}

bool Watch::Holds(PyObject* optimizer) const {
    if (rules_.empty() || !optimizer_type_.IsOf(optimizer)) return false;
    PyObject* dict = DictOf(optimizer);
    PyObject* pre;
    PyObject* post;
    if (!FindHooks(dict, pre, post) || !IsEmpty(pre) || !IsEmpty(post)) return false;
    PyObject* is_dynamic = Find(dict, g_names.is_dynamic);
    if (is_dynamic != nullptr && is_dynamic != Py_False) return false;
    PyObject* count = Find(dict, g_names.t);
    if (count == nullptr || !PyLong_CheckExact(count)) return false;
    PyObject* target = Find(dict, g_names.target);
    const Walk* walk = !IsNone(target) ? WalkOf(target) : nullptr;
    if (walk == nullptr || walk->version() != walk_version_) return false;
    PyObject* t = Find(rules_.front().dict.get(), g_names.t);
    for (size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (AsVariable(params_[i])->loss_scale != nullptr) return false;
        if (!IsRuleOf(rule, params_[i]) || !HoldsRule(rule, t)) return false;
    }
    for (const Idle& idle : idle_) {
        if (!HoldsIdle(idle)) return false;
    }
    return true;
}

void Watch::KeepHyperparameters() {
    values_.clear();
    has_values_ = false;
    PyObject* set = parent_.get();
    while (!IsNone(set)) {
        if (!Py_IS_TYPE(set, reinterpret_cast<PyTypeObject*>(g_callbacks.hyperparameter_class))) {
            return;
        }
        Values values;
        values.dict = Check(PyObject_GenericGetDict(set, nullptr));
        PyObject* parent = Find(values.dict.get(), g_names.parent);
        PyObject* key;
        PyObject* value;
        for (Py_ssize_t i = 0; PyDict_Next(values.dict.get(), &i, &key, &value) != 0;) {
            const bool is_private = PyUnicode_Check(key) && PyUnicode_READ_CHAR(key, 0) == '_';
            if (!IsNumber(value) && !is_private) return;
            values.items.emplace_back(Py_NewRef(key));
            values.items.emplace_back(Py_NewRef(value));
        }
        values_.push_back(std::move(values));
        set = parent;
    }
    has_values_ = true;
}

bool Watch::HasHyperparameters() const {
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

Watch::Counts Watch::Next(PyObject* optimizer) const {
    static PyObject* const one = PyLong_FromLong(1);
    return {Check(PyNumber_Add(Find(rules_.front().dict.get(), g_names.t), one)),
            Check(PyNumber_Add(Find(DictOf(optimizer), g_names.t), one))};
}

void Watch::Set(PyObject* optimizer, const Counts& counts) {
    // The keys are there, so that nothing is allocated, and nothing can fail halfway.
    count_ = Keep(counts.rules.get());
    for (Rule& rule : rules_) {
        if (PyDict_SetItem(rule.dict.get(), g_names.t, counts.rules.get()) < 0) throw PythonError{};
        rule.version = DictVersion{rule.dict.get()};
    }
    if (PyDict_SetItem(DictOf(optimizer), g_names.t, counts.optimizer.get()) < 0) {
        throw PythonError{};
    }
}

int Watch::Traverse(visitproc visit, void* arg) const {
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

void InitWatch() {
    struct Row {
        PyObject** name;
        const char* text;
    };
    const Row rows[] = {{&g_names.t, "t"},
                        {&g_names.target, "target"},
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
