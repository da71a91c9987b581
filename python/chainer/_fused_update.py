"""Updates all parameters of an optimizer in one call of the engine, where rules and hooks allow.

The plan is made once per model: which memory belongs to which parameter. Each step checks that it
still holds; if not, and whenever something about a rule is special, parameters are updated one by
one.
"""

from __future__ import annotations

import typing as tp

from chainerx._core import engine

from chainer import _fallback
from chainer.variable import Parameter


class Plan:
    """What the last step found, and the engine's plan made of it."""

    def __init__(self, params: list[tp.Any], rules: list[tp.Any], call: tp.Any) -> None:
        name, keys, _ = call
        self.params = params
        self.rules = rules
        self.states = [rule._state for rule in rules]
        self.signature = name, keys
        pairs = [(p, state or {}) for p, state in zip(params, self.states, strict=True)]
        self.engine_plan = engine.UpdatePlan(name, keys, pairs)
        self.alpha = getattr(rules[0], 'initial_alpha', None)
        # With what `repeat` tells that nothing has been done to a rule.
        self.parts = [
            (p, rule, rule.__dict__, len(rule.__dict__), state, rule.hyperparam, rule._hookable)
            for p, rule, state in zip(params, rules, self.states, strict=True)
        ]

    def is_untouched(self, params: list[tp.Any]) -> bool:
        """Whether parameters and rules are what they were, but for the number of updates."""
        if len(params) != len(self.parts):
            return False
        t, alpha = self.rules[0].t, self.alpha
        for p, (q, rule, d, size, state, hyperparam, hookable) in zip(
            params, self.parts, strict=True
        ):
            if (
                p is not q
                or p.update_rule is not rule
                or p.loss_scale is not None
                or d['t'] != t
                or d['_state'] is not state
                or not d['enabled']
                or len(d) != size
                or d['hyperparam'] is not hyperparam
                or len(hyperparam.__dict__) != 1
                or hookable._pre_update_hooks
                or hookable._post_update_hooks
                or (alpha is not None and d['initial_alpha'] != alpha)
            ):
                return False
        return True

    def fits(self, params: list[tp.Any], rules: list[tp.Any], call: tp.Any) -> bool:
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


def repeat(optimizer: tp.Any, params: list[tp.Any]) -> bool:
    """One step as the last one, quickly, which the optimizer counts, too.

    False, and nothing done, if anything has changed.
    """
    plan = optimizer._plan
    if plan is None or not plan.is_untouched(params):
        return False
    rules = plan.rules
    first = rules[0]
    first.t += 1
    try:
        call = first.fused_call(params[0].dtype)
    finally:
        first.t -= 1
    if call is None or call[:2] != plan.signature:
        return False
    return plan.engine_plan.step(first.t + 1, call[2], rules, optimizer, optimizer.t + 1)


def update(optimizer: tp.Any, params: list[tp.Any]) -> bool:
    """One step for all parameters. False, and nothing done, if it can't be one call."""
    params = [p for p in params if p.update_rule is not None and p.update_rule.enabled]
    if not params:
        return True
    rules = [p.update_rule for p in params]
    reason = _find_obstacle(params, rules)
    if reason is None:
        first = rules[0]
        first.t += 1
        try:
            call = first.fused_call(params[0].dtype)
        finally:
            first.t -= 1
        reason = _step(optimizer, params, rules, call)
    if reason is None:
        return True
    if reason:
        _fallback.count(f'{type(optimizer).__name__}.update', f'{len(params)} parameters', reason)
    return False


def _find_obstacle(params: list[tp.Any], rules: list[tp.Any]) -> str | None:
    """Why this can't be one call: '' if that is nothing to speak of."""
    first = rules[0]
    if first.fused is None:
        return f'{type(first).__name__} has no routine for all parameters at once'
    if any(rule._state is None for rule in rules):
        return ''  # the first update makes the states
    key = first.fused_key()
    if any(rule.fused_key() != key for rule in rules):
        return 'the rules of parameters differ in kind, hyperparameters or number of updates'
    if len(set(map(id, rules))) != len(rules):
        return 'parameters share a rule'
    if any(rule._hookable for rule in rules):
        return 'the rule of a parameter has a hook'
    if any(rule._use_fp32_update for rule in rules):
        return 'a parameter is updated in float32'
    if any(type(p).update is not Parameter.update for p in params):
        return 'a parameter has an update() of its own'
    return None


def _step(optimizer: tp.Any, params: list[tp.Any], rules: list[tp.Any], call: tp.Any) -> str | None:
    """None if it was done; else why not."""
    if call is None:
        return f'{type(rules[0]).__name__} has a formula of its own'
    t = rules[0].t + 1
    plan = optimizer._plan
    if (
        plan is not None
        and plan.fits(params, rules, call)
        and plan.engine_plan.step(t, call[2], rules)
    ):
        return None
    try:
        plan = optimizer._plan = Plan(params, rules, call)
    except ValueError as error:
        optimizer._plan = None
        return str(error)
    if plan.engine_plan.step(t, call[2], rules):
        return None
    return 'a gradient is missing, is laid out unlike its parameter, or shares memory with one'
