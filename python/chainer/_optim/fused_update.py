"""Updates all parameters of an optimizer in one call of the engine, where rules and hooks allow.

The plan is made once per model: which memory belongs to which parameter. Each step checks that it
still holds; if not, and whenever something about a rule is special, parameters are updated one by
one.
"""

from __future__ import annotations

import typing as tp

import chainerx
from chainerx._core import engine

from chainer import backend
from chainer._graph import fallback
from chainer._optim.update_rule import _is_float16, _without_graph
from chainer.variable import Parameter

if tp.TYPE_CHECKING:
    from chainer._optim.captured_update import Part
    from chainer._optim.optimizer import GradientMethod
    from chainer.optimizers._rule import FormulaRule

    Owner: tp.TypeAlias = GradientMethod | Part  # whoever has the plan


class Plan:
    """The parameters that the last step found, and the engine's plan for them."""

    def __init__(self, params: list[Parameter], rules: list[FormulaRule], call: tp.Any) -> None:
        name, keys, _ = call
        self.params = params
        self.rules = rules
        self.states = [rule._state for rule in rules]
        self.signature = name, keys
        pairs = [(p, state or {}) for p, state in zip(params, self.states, strict=True)]
        self.engine_plan = engine.UpdatePlan(name, keys, pairs)

    def watch(self, optimizer: GradientMethod) -> None:
        """Has the engine look whether the next step can be the same."""
        if optimizer._is_plain():
            self.engine_plan.watch(optimizer, self.rules)

    def fits(self, params: list[Parameter], rules: list[FormulaRule], call: tp.Any) -> bool:
        return (
            len(params) == len(self.params)
            and self.signature == call[:2]
            and all(
                p is q and rule is old and rule._state is state
                for p, q, rule, old, state in zip(
                    params, self.params, rules, self.rules, self.states, strict=True
                )
            )
        )


def repeat(optimizer: GradientMethod) -> bool:
    """One step as the last one, quickly, which the optimizer counts, too.

    False, and nothing done, if anything but values of hyperparameters has changed.
    """
    plan = optimizer._plan
    done = plan.engine_plan.repeat(optimizer)
    if done is None:
        call = plan.rules[0].fused_call(plan.params[0].dtype)
        if call is None or call[:2] != plan.signature:
            return False
        done = plan.engine_plan.repeat(optimizer, call[2])
    return done


def read_settings(owner: Owner) -> tuple[float, ...] | None:
    """The settings of the next step, of hyperparameters as they are now; None if the step would be
    another one than the plan's."""
    plan = tp.cast(Plan, owner._plan)
    call = plan.rules[0].fused_call(plan.params[0].dtype)
    return None if call is None or call[:2] != plan.signature else call[2]


def update(optimizer: GradientMethod, params: list[Parameter]) -> bool:
    """One step for all parameters. False, and nothing done, if it can't be one call."""
    if all(map(_is_plain, params)):
        # A rule of another kind, a test's mock for example, says itself whether it is enabled.
        params = [
            p
            for p in params
            if p.update_rule is not None and getattr(p.update_rule, 'enabled', True)
        ]
        if not params:
            return True
        rules = [p.update_rule for p in params]
        reason = _find_obstacle(params, rules)
    else:
        reason = 'a parameter has an update() of its own, or another attribute that updates use'
    if reason is None:
        narrow = [p for p, rule in zip(params, rules, strict=True) if _has_copy(p, rule)]
        if narrow:
            reason = _step_of_copies(optimizer, params, rules, narrow, _step_once)
        else:
            call = rules[0].fused_call(params[0].dtype)
            reason = _step(optimizer, params, rules, call)
    if reason is None:
        return True
    if reason:
        fallback.count(f'{type(optimizer).__name__}.update', f'{len(params)} parameters', reason)
    return False


def update_part(part: Part, param: Parameter) -> None:
    """One step for a parameter alone, as `UpdateRule.update` makes it, with the hooks of its rule.

    If it can't be one call, the step that is recorded can't be.
    """
    rule = param.update_rule
    if not _has_copy(param, rule):
        with _without_graph(param):
            _step_of_part(part, [param], [rule], param.dtype)
        return
    reason = _step_of_copies(part, [param], [rule], [param], _step_of_part)
    if reason is not None:
        _refuse(reason)
        rule.update(param)


def _step_of_part(
    part: Part, params: list[Parameter], rules: list[FormulaRule], dtype: tp.Any
) -> None:
    (param,), (rule,) = params, rules
    t = rule.t + 1
    rule.t, rule._ahead = t, 1
    try:
        rule._hookable.call_hooks('pre', (rule, param))
        rule.t = t - 1
        reason = _step_once(part, params, rules, dtype)
        if reason is not None:
            _refuse(reason)
            rule.t = t
            rule.update_core(param)
        rule._hookable.call_hooks('post', (rule, param))
    finally:
        del rule._ahead


def _refuse(reason: str) -> None:
    engine.refuse_capture(f'a parameter can not be updated in one call ({reason})')


def find_obstacle_of_parts(params: list[Parameter]) -> str | None:
    """Why parameters can't be updated one by one in calls of the engine."""
    for param in params:
        rule = param.update_rule
        cls = type(rule)
        if not _is_plain(param) or getattr(cls, 'fused', None) is None:
            return f'a parameter is updated by a rule of the program, {cls.__name__}'
        if any(getattr(cls, name, None) is not part for name, part in cls._made_of.items()):
            return f'a parameter is updated by {cls.__name__}, which the program has changed'
        if param.array is None or param.grad is None or rule.fused_call(param.dtype) is None:
            return 'a parameter is updated that has no array, or a formula of its own'
    return None


_DIFFERENT_RULES: tp.Final = (
    'the rules of parameters differ in kind, hyperparameters or number of updates'
)


def _find_obstacle(params: list[Parameter], rules: list[FormulaRule]) -> str | None:
    """Why this can't be one call: '' if that is nothing to speak of."""
    first = rules[0]
    cls = type(first)
    if getattr(cls, 'fused', None) is None:
        return f'{cls.__name__} has no routine for all parameters at once'
    if any(type(rule) is not cls for rule in rules):
        return _DIFFERENT_RULES
    if any(getattr(cls, name, None) is not part for name, part in cls._made_of.items()):
        return f'{cls.__name__} has been changed'
    key = first.fused_key()
    if any(rule.fused_key() != key for rule in rules):
        return _DIFFERENT_RULES
    if len(set(map(id, rules))) != len(rules):
        return 'parameters share a rule'
    if any(rule._hookable for rule in rules):
        return 'the rule of a parameter has a hook'
    for param, rule in zip(params, rules, strict=True):
        if rule._state is None:
            if param.array is None or _has_copy(param, rule):
                return ''  # nothing to speak of: the first update makes a copy, and its states
            rule._prepare_states(param)
    return None


# The attributes of a parameter that an update would use.
_USED: tp.Final = tuple((name, getattr(Parameter, name)) for name in ('update', 'array', 'grad'))


def _is_plain(param: Parameter) -> bool:
    """Whether neither the class of a parameter nor somebody else has put something in the place of
    what updating it would use."""
    cls = type(param)
    return 'update' not in param.__dict__ and all(
        getattr(cls, name) is attribute for name, attribute in _USED
    )


def _has_copy(param: Parameter, rule: FormulaRule) -> bool:
    """Whether a parameter is updated by way of a copy in float32."""
    return rule._use_fp32_update and _is_float16(param)


def _step_of_copies(
    owner: Owner,
    params: list[Parameter],
    rules: list[FormulaRule],
    narrow: list[Parameter],
    step: tp.Any,
) -> str | None:
    """The same where some parameters have copies in float32, which are cast all at once."""
    copies = [p.update_rule._fp32_param for p in narrow]
    if any(
        copy is None or copy.shape != p.shape or copy.device != p.device or p.grad is None
        for copy, p in zip(copies, narrow, strict=True)
    ):
        return ''
    arrays, wide = [p.array for p in narrow], [copy.array for copy in copies]
    with backend.using_device(narrow[0].device), chainerx.no_backprop_mode():
        # Values that somebody else has written since count.
        if not _cast_all(arrays, wide, True):
            return 'a parameter is updated in float32'
        grads = [copy.xp.empty_like(copy.array) for copy in copies]
        if not _cast_all([p.grad for p in narrow], grads, False):
            return 'a gradient is laid out unlike its parameter'
        for copy, grad in zip(copies, grads, strict=True):
            copy.grad = grad
        try:
            replaced = dict(zip(map(id, narrow), copies, strict=True))
            updated = [replaced.get(id(p), p) for p in params]
            reason = step(owner, updated, rules, copies[0].dtype)
        finally:
            for copy in copies:
                copy.grad = None
        if reason is None:
            versions = list(map(engine.version, arrays))
            _cast_all(wide, arrays, False)
            # Graphs that are older go on with the new values.
            for array, version in zip(arrays, versions, strict=True):
                engine.forget_writes(array, version)
    return reason


def _cast_all(xs: list[tp.Any], outs: list[tp.Any], keeps: bool) -> bool:
    """Casts arrays into others; False, and nothing done, if that is better left to each update."""
    if engine.cast_all(xs, outs, keeps):
        return True
    if not engine.is_capturing():
        return False
    for x, out in zip(xs, outs, strict=True):
        out[...] = chainerx.where(out.astype(x.dtype) == x, out, x) if keeps else x
    return True


def _step_once(
    owner: Owner, params: list[Parameter], rules: list[FormulaRule], dtype: tp.Any
) -> str | None:
    return _step(owner, params, rules, rules[0].fused_call(dtype), repeats=False)


def _step(
    owner: Owner,
    params: list[Parameter],
    rules: list[FormulaRule],
    call: tp.Any,
    repeats: bool = True,
) -> str | None:
    """None if it was done; else why not. Whether the next one may be a repetition."""
    if call is None:
        return f'{type(rules[0]).__name__} has a formula of its own'
    t = rules[0].t + 1
    plan = owner._plan
    if (
        plan is not None
        and plan.fits(params, rules, call)
        and plan.engine_plan.step(t, call[2], rules)
    ):
        if repeats:
            plan.watch(tp.cast('GradientMethod', owner))
        return None
    try:
        plan = owner._plan = Plan(params, rules, call)
    except ValueError as error:
        owner._plan = None
        return str(error)
    if plan.engine_plan.step(t, call[2], rules):
        if repeats:
            plan.watch(tp.cast('GradientMethod', owner))
        return None
    return 'a gradient is missing, is laid out unlike its parameter, or shares memory with one'
