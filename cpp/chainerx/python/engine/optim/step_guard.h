// Notices whatever was done to an optimizer, its parameters or their rules since a step was
// planned; if nothing was, the next step repeats that one. It reads attributes and runs no code of
// Python's.
#pragma once

#include <optional>
#include <vector>

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

class StepGuard {
 public:
    // Of an optimizer and the rules of `params`, which were just updated in one step.
    // False if there is something that only Python can look after.
    bool Begin(PyObject* optimizer, const std::vector<PyObject*>& params, PyObject* rules);
    void End();

    // The numbers of the next update, of the rules and of the optimizer, which may differ.
    struct Counts {
        Ref rules;
        Ref optimizer;
    };
    // Those, if all is as it was, but for the number of updates and the hyperparameters.
    std::optional<Counts> Next(PyObject* optimizer) const;

    // That hyperparameters are what they are now, where all are numbers.
    void KeepHyperparameters();
    bool HasHyperparameters() const;

    // Sets them, all or none.
    void Set(PyObject* optimizer, const Counts& counts);

    int Traverse(visitproc visit, void* arg) const;

 private:
    // A rule, and what was in its dict.
    struct Rule {
        Ref rule;
        ClassVersion type;
        Ref dict;
        DictVersion version;  // with the count that was set last
        Py_ssize_t size;
        Ref state;
        Ref hyperparam;
        Ref own_values;  // the dict of that
        mutable DictVersion own_version;
        Ref pre_hooks;  // dicts
        Ref post_hooks;
        Ref alpha;  // null unless there is one
        ClassVersion param_type;
        mutable DictVersion param_version;  // of the dict of the parameter, which names the rule
    };
    // A parameter that no step changes, for it has no rule, or one that is disabled.
    struct Idle {
        Ref param;
        ClassVersion type;
        Ref rule;  // or None
        Ref dict;
    };
    // One of the sets of hyperparameters that all rules share.
    struct Values {
        Ref dict;
        std::vector<Ref> items;  // key, value, ...
    };

    bool Add(PyObject* optimizer, const std::vector<PyObject*>& params, PyObject* rules);
    bool AddRule(PyObject* rule, PyObject* param);
    PyObject* CountOfRules() const;
    bool HoldRules() const;
    bool HoldsRule(const Rule& rule, PyObject* t) const;
    static bool IsRuleOf(const Rule& rule, PyObject* param);
    bool HoldsDict(const Rule& rule, PyObject* t) const;
    bool AddIdle(PyObject* param);
    static bool HoldsIdle(const Idle& idle);

    ClassVersion optimizer_type_;
    uint64_t params_version_{0};
    std::vector<PyObject*> params_;  // borrowed from the plan
    std::vector<Rule> rules_;
    std::vector<Idle> idle_;
    Ref parent_;  // of the hyperparameters of all rules
    std::vector<Values> values_;
    bool has_values_{false};
    Ref count_;  // that was set last
};

void InitStepGuard();

}  // namespace chainerx::python::engine
