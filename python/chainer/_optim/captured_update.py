"""Updates with hooks in a step that is recorded (`chainerx.capture`): what the host does for each
replay of their kernels."""

from __future__ import annotations

import inspect
import typing as tp
import weakref

from chainerx._core import engine

from chainer import optimizer_hooks
from chainer._optim import fused_update

if tp.TYPE_CHECKING:
    from chainer._optim.optimizer import GradientMethod

# What hooks that are known to be no more than kernels do: a subclass may do anything.
_CALLS: tp.Final = [
    inspect.getattr_static(cls, '__call__')
    for cls in vars(optimizer_hooks).values()
    if isinstance(cls, type)
]


def record(optimizer: GradientMethod) -> None:
    """Has each replay of the step that was just made count, and look whether it is still the step.

    Hyperparameters may change; hooks, and what they and the loss are scaled by, may not.
    """
    for hook in _hooks_of(optimizer):
        if inspect.getattr_static(type(hook), '__call__') not in _CALLS:
            engine.refuse_capture(f'a hook of the program, {_name_of(hook)}, is called')
            return
    alive = weakref.ref(optimizer)  # it may own the recording, by way of its target
    plan = optimizer._plan
    recorded, key = weakref.ref(plan), id(plan)
    state = _state_of(optimizer)

    def is_same() -> bool:
        optimizer, plan = alive(), recorded()
        if optimizer is None or plan is None or optimizer._plan is not plan:
            return False
        t = plan.rules[0].t
        if any(rule.t != t for rule in plan.rules) or _state_of(optimizer) != state:
            return False
        return plan.engine_plan.prepare(t + 1, fused_update.read_settings(optimizer))

    def count(_: object) -> None:
        optimizer, plan = alive(), recorded()
        if optimizer is None or plan is None:
            return
        optimizer.t += 1
        t = plan.rules[0].t + 1
        for rule in plan.rules:
            rule.t = t
        plan.engine_plan.finish(t)

    engine.capture_part(('update', key), is_same, count)


def _hooks_of(optimizer: GradientMethod) -> tp.Iterator[tp.Any]:
    for hookable in (optimizer._hookable, *(rule._hookable for rule in optimizer._plan.rules)):
        if hookable is not None and hookable:
            yield from hookable._pre_update_hooks.values()
            yield from hookable._post_update_hooks.values()


def _state_of(optimizer: GradientMethod) -> tuple[object, ...]:
    """Whatever an update depends on besides the values of hyperparameters: equal, the same step."""
    hooks = [(id(hook), tuple(vars(hook).items())) for hook in _hooks_of(optimizer)]
    rules = [(rule.enabled, rule._use_fp32_update) for rule in optimizer._plan.rules]
    params = [id(param) for param in optimizer.target.params()]
    return optimizer._loss_scale, optimizer._loss_scaling_is_dynamic, hooks, rules, params


def _name_of(hook: object) -> str:
    return getattr(hook, '__qualname__', type(hook).__qualname__)
