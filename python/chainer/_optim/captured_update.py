"""Updates in a step that is recorded (`chainerx.capture`): what the host does for each replay of
their kernels.

That is all of them but those that have neither hooks, nor rules that differ, nor a dynamic loss
scale: of these the engine takes care.
"""

from __future__ import annotations

import inspect
import typing as tp
import weakref

from chainerx import _watch
from chainerx._core import engine

from chainer import optimizer_hooks
from chainer._optim import captured_scaling, fused_update

if tp.TYPE_CHECKING:
    from chainer._optim.optimizer import GradientMethod
    from chainer.variable import Parameter

# What hooks that are known to be no more than kernels do: a subclass may do anything.
_CALLS: tp.Final = [
    inspect.getattr_static(cls, '__call__')
    for cls in vars(optimizer_hooks).values()
    if isinstance(cls, type)
]

# Attributes of an optimizer that an update sets.
_COUNTS: tp.Final = 't', '_loss_scale', '_loss_scaling_isnan', '_loss_scaling_isnan_ever'


class Part:
    """What is known of a parameter that is updated by itself."""

    _plan: fused_update.Plan | None = None


def update(optimizer: GradientMethod, params: list[Parameter]) -> bool:
    """One step for all parameters, and for each replay of the step that is recorded.

    False, and nothing done, if it can't be recorded.
    """
    enabled = [p for p in params if p.update_rule is not None and p.update_rule.enabled]
    reason = _find_obstacle(optimizer) or fused_update.find_obstacle_of_parts(enabled)
    if reason is not None:
        engine.refuse_capture(reason)
        return False
    _make_states(enabled)
    counts = [p.update_rule.t for p in enabled]
    with captured_scaling.masked(optimizer, enabled):
        is_one = fused_update.update(optimizer, params)
        if not is_one:
            for param in enabled:
                part = _parts_of(optimizer).setdefault(id(param), Part())
                fused_update.update_part(part, param)
    if not optimizer.is_safe_to_update():
        for param, t in zip(enabled, counts, strict=True):
            param.update_rule.t = t
    if engine.is_capturing():
        _Update(optimizer, enabled, is_one).add()
        leave_out_counts(optimizer)
    return True


def leave_out_counts(optimizer: GradientMethod) -> None:
    """Says that replays count this update, which attributes of a class of the program show."""
    _watch.leave_out(optimizer, *_COUNTS)
    for param in optimizer.target.params():
        if param.update_rule is not None:
            _watch.leave_out(param.update_rule, 't')


def _parts_of(optimizer: GradientMethod) -> dict[int, Part]:
    return optimizer.__dict__.setdefault('_parts', {})


def _make_states(params: list[Parameter]) -> None:
    """Makes what the first update makes, if that has been left out so far."""

    def make() -> None:
        for param in params:
            if param.array is not None:
                param.update_rule._prepare_all(param)

    engine.unobserved(make)


class _Update:
    """An update in a recorded step: what each replay looks at, and counts.

    Hyperparameters may change; hooks and rules may not, nor what the loss is scaled by, unless it
    is the scale on the device.
    """

    def __init__(self, optimizer: GradientMethod, params: list[Parameter], is_one: bool) -> None:
        self.alive = weakref.ref(optimizer)  # it may own the recording, by way of its target
        self.is_one = is_one
        self.ids = [id(param) for param in params]
        self.plans = [weakref.ref(owner._plan) for owner in self._owners(optimizer)]
        scaling = captured_scaling.of(optimizer)
        self.paths, self.is_scaled = scaling.paths, scaling.is_used
        self.flags, scaling.flags = scaling.flags, None
        self.state = self._state(optimizer)

    def add(self) -> None:
        """Makes it a part of the step."""
        plans = (id(plan()) for plan in self.plans)
        key = 'update', id(self.alive()), tuple(plans), tuple(self.ids)
        flags, self.flags = self.flags, None
        engine.capture_part(key, self.is_same, self.count, flags, True)

    def is_same(self) -> bool:
        """Whether the next update is that of the recording; brings memory up to date for it."""
        optimizer = self.alive()
        if optimizer is None or self._state(optimizer) != self.state:
            return False
        for owner, recorded in zip(self._owners(optimizer), self.plans, strict=True):
            if owner._plan is None or recorded() is not owner._plan:
                return False
            plan: tp.Any = owner._plan
            t = plan.rules[0].t
            if any(rule.t != t for rule in plan.rules):
                return False
            if not plan.engine_plan.prepare(t + 1, fused_update.read_settings(owner)):
                return False
        if self.is_scaled:
            captured_scaling.of(optimizer).send(tp.cast(float, optimizer._loss_scale))
        return True

    def count(self, flags: tp.Any) -> None:
        """Counts the update, or looks why there was none."""
        optimizer = self.alive()
        if optimizer is None:
            return
        is_finite = flags is None or captured_scaling.look(optimizer, self.paths, flags.tolist())
        optimizer.t += 1
        for owner in self._owners(optimizer):
            plan: tp.Any = owner._plan
            t = plan.rules[0].t + 1
            if is_finite:
                for rule in plan.rules:
                    rule.t = t
            plan.engine_plan.finish(t)
        optimizer.update_loss_scale()

    def _owners(self, optimizer: GradientMethod) -> list[tp.Any]:
        """Those of the plans; a part is there as long as its parameter."""
        if self.is_one:
            return [optimizer] if self.ids else []
        parts = _parts_of(optimizer)
        return [parts[key] for key in self.ids]

    def _state(self, optimizer: GradientMethod) -> tuple[object, ...]:
        """What an update depends on besides hyperparameters: equal, the same step."""
        scale = None if self.is_scaled else optimizer._loss_scale
        hooks = [
            (id(hook), [(k, v) for k, v in vars(hook).items() if k != '_drawn'])
            for hook in _hooks_of(optimizer)
        ]
        rules = []
        for param in optimizer.target.params():
            rule = getattr(param, 'update_rule', None)
            rules.append((id(param), id(rule)))
            if rule is not None:
                own = tuple(rule.hyperparam.__dict__.items()) if self.is_one else ()
                rules.append((rule.enabled, rule._use_fp32_update, *own))
        return optimizer._loss_scaling_is_dynamic, scale, hooks, rules


def call_post_hooks(optimizer: GradientMethod, params: list[Parameter]) -> None:
    """Calls the hooks of an update that is recorded, which rules have counted."""
    rules = [p.update_rule for p in params if p.update_rule is not None and p.update_rule.enabled]
    for rule in rules:
        rule._ahead = 1
    try:
        optimizer.call_hooks('post')
    finally:
        for rule in rules:
            del rule._ahead


def _find_obstacle(optimizer: GradientMethod) -> str | None:
    """Why an update is more than kernels; None if it is not."""
    cls = type(optimizer)
    changed = optimizer._overridden_part()
    if changed is not None:
        return f'{cls.__name__}.{changed}, which the program has overridden, is called'
    if optimizer._loss_scaling_is_dynamic:
        # Where gradients are not finite, these are not called, or see other counts.
        rules = (p.update_rule for p in optimizer.target.params())
        if any(rule is not None and rule._hookable for rule in rules):
            return 'a hook of an update rule is called, while the loss scale is dynamic'
        for hook in tp.cast(tp.Any, optimizer._hookable)._post_update_hooks.values():
            if isinstance(hook, optimizer_hooks.GradientNoise):
                return 'GradientNoise is called after updates, while the loss scale is dynamic'
    for hook in _hooks_of(optimizer):
        if inspect.getattr_static(type(hook), '__call__') not in _CALLS:
            return (
                f'a hook of the program, {_name_of(hook)}, is called by the update (call it before '
                'or after the captured step, or remove it)'
            )
    return None


def _hooks_of(optimizer: GradientMethod) -> tp.Iterator[tp.Any]:
    rules = (getattr(param, 'update_rule', None) for param in optimizer.target.params())
    for hookable in (optimizer._hookable, *(rule._hookable for rule in rules if rule is not None)):
        if hookable is not None and hookable:
            yield from hookable._pre_update_hooks.values()
            yield from hookable._post_update_hooks.values()


def _name_of(hook: object) -> str:
    return getattr(hook, '__qualname__', type(hook).__qualname__)
