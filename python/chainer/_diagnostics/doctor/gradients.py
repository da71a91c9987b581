"""Observes the gradients of one optimizer for a doctor."""

from __future__ import annotations

import statistics
import typing as tp
from collections import Counter

import numpy as np

from chainer import backend
from chainer._diagnostics.doctor.finding import Finding, shorten
from chainer._diagnostics.missing_gradients import (
    MissingGradientsReport,
    report_missing_gradients,
)
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray

# How many times larger than at first gradients may become.
_EXPLODING: tp.Final = 1000.0
_DEEPEST: tp.Final = 4  # lists in lists that are looked into
_CLIPPING: tp.Final = ('GradientClipping', 'GradientHardClipping')


def norm(array: NdArray) -> float:
    """The Euclidean norm of an array on any device, in float64."""
    x = backend.CpuDevice().send(array)
    return float(np.sqrt(np.sum(np.square(np.abs(x), dtype=np.float64))))


def _is_nan(array: NdArray) -> bool:
    return bool(np.isnan(backend.CpuDevice().send(array)).all())


class Gradients:
    """The gradients of an optimizer's parameters, from update to update.

    Args:
        optimizer (GradientMethod): Which.
    """

    def __init__(self, optimizer: tp.Any) -> None:
        self.optimizer = optimizer
        self.name = f'{type(optimizer).__name__} of {type(optimizer.target).__name__}'
        self._norms: list[float] = []
        self._n_missing: Counter[str] = Counter()
        self._n_zero: Counter[str] = Counter()
        self._n_params = 0
        self._n_idle = 0
        self._report: MissingGradientsReport | None = None
        self._losses: list[Variable] = []
        # Parameters with a gradient at the last update, and those that have lost it since.
        self._old: dict[int, str] = {}
        self._cleared: set[int] = set()
        self._n_not_cleared: Counter[str] = Counter()
        self._never_cleared: list[str] = []
        self._unregistered: dict[str, Link | Parameter] = {}
        self._not_finite: str | None = None

    def before_backward(self, outputs: tp.Sequence[Variable]) -> None:
        """Checks the state that the last update left.

        Args:
            outputs (list of Variable): The variables whose gradients are about to be computed.
        """
        if self._report is None and len(self._norms) < 3:
            self._losses = [*self._losses[-7:], *outputs]
        for param in self.optimizer.target.params():
            if id(param) in self._old and id(param) not in self._cleared:
                grad = param.grad
                if grad is None or norm(grad) == 0:
                    self._cleared.add(id(param))

    def before_update(self) -> None:
        """Looks at the gradients that an update is about to use."""
        target = self.optimizer.target
        params = dict(target.namedparams())
        self._n_params = len(params)
        if not any(p.update_rule and p.update_rule.enabled for p in params.values()):
            self._n_idle += 1
        total = 0.0
        old = {}
        for path, param in params.items():
            grad = param.grad if param.is_initialized else None
            if grad is None:
                self._n_missing[path] += 1
                continue
            if id(param) in self._old and id(param) not in self._cleared:
                self._n_not_cleared[path] += 1
            old[id(param)] = path
            one = norm(grad)
            if not self._norms and np.isnan(one) and _is_nan(grad):
                self._never_cleared.append(path)
            elif not np.isfinite(one) and self._not_finite is None and not self._may_overflow():
                self._not_finite = f'{path} in update {len(self._norms) + 1}'
            if one == 0 and param.size:
                self._n_zero[path] += 1
            total += one * one
        self._old = old
        self._cleared = set()
        self._norms.append(total**0.5 / (getattr(self.optimizer, '_loss_scale', None) or 1.0))
        if self._losses:
            if self._n_missing:
                reports = [report_missing_gradients(target, loss) for loss in self._losses]
                self._report = min(reports, key=len)
            self._losses = []
        if len(self._norms) == 1:
            self._unregistered = _unregistered(target)

    def _may_overflow(self) -> bool:
        return bool(getattr(self.optimizer, '_loss_scaling_is_dynamic', False))

    def findings(self, trained: tp.Container[int]) -> tp.Iterator[Finding]:
        """Return the findings so far.

        Args:
            trained (set of int): The ids of all links and parameters that some optimizer has.
        """
        if not self._norms:
            return
        if self._n_idle == len(self._norms):
            what = 'all parameters are disabled' if self._n_params else 'it has no parameters'
            yield Finding(
                'nothing to train',
                f'{self.name}: the model stays as it is: {what}',
                'make layers inside `with self.init_scope():`, give all of the model to '
                'optimizer.setup, and call enable_update() of what is to be trained',
            )
        yield from self._missing()
        n = len(self._norms)
        zero = [p for p, count in self._n_zero.items() if count == n >= 3]
        if zero:
            yield Finding(
                'zero gradients',
                f'{self.name}: all {n} gradients of {shorten(zero)} were 0',
                'look for units that never fire (ReLU after a large negative bias), weights that '
                'are all 0, and losses that do not depend on them',
            )
        kept = [p for p, count in self._n_not_cleared.items() if count == n - 1 >= 2]
        if kept or self._never_cleared:
            text = (
                'the first backward added to gradients that were never cleared, and so are NaN, '
                f'of {shorten(self._never_cleared)}'
                if self._never_cleared
                else f'each backward adds to the gradients of the update before, of {shorten(kept)}'
            )
            yield Finding(
                'gradients not cleared',
                f'{self.name}: {text}',
                'call model.cleargrads() before each backward; optimizer.update(lossfun, ...) does '
                'it by itself',
            )
        for path, one in self._unregistered.items():
            if id(one) in trained:
                continue
            yield Finding(
                'parameters not registered',
                f'{self.name}: {path}, a {type(one).__name__}, is not known to the link: it is '
                'not trained, nor saved, nor moved to a device',
                'assign it inside `with self.init_scope():`; for a list there are ChainList and '
                'Sequential',
            )
        yield from self._exploding()

    def _missing(self) -> tp.Iterator[Finding]:
        n = len(self._norms)
        missing = [path for path, count in self._n_missing.items() if count == n]
        if not missing:
            return
        reasons = {one.path: one.reason for one in self._report or ()}
        ends = self._report.ends if self._report else []
        where = ['The graph of the loss ends, besides parameters, at:', *ends] if ends else []
        if len(missing) == self._n_params:
            reason = next(iter(reasons.values()), 'there was no backward')
            yield Finding(
                'detached graph',
                '\n'.join([f'{self.name}: no parameter gets a gradient: {reason}', *where]),
                'compute the loss from Variables, not from their arrays (x.array, float(x)), with '
                'gradients enabled, and call its backward()',
            )
            return
        lines = [f'{path}: {reasons.get(path, "no gradient")}' for path in missing]
        head = f'{self.name}: {len(missing)} of {self._n_params} parameters get no gradient'
        yield Finding(
            'missing gradients',
            '\n'.join([head, *lines[:20], *where]),
            'use the link in the forward, and do not take what it gives out of the graph (.array, '
            'unchain, no_backprop_mode); take what is not to be trained out of the model',
        )

    def _exploding(self) -> tp.Iterator[Finding]:
        if self._not_finite is not None:
            yield Finding(
                'not finite',
                f'{self.name}: the gradient of {self._not_finite} has a NaN or an infinity',
                'look for logarithms and square roots of 0 and divisions by 0, and try a smaller '
                'learning rate',
            )
            return
        norms = [x for x in self._norms if np.isfinite(x)]
        n_first = max(1, len(norms) // 4)
        if len(norms) < 4 or _is_clipped(self.optimizer):
            return
        first, peak = statistics.median(norms[:n_first]), max(norms[n_first:])
        if first > 0 and peak > _EXPLODING * first:
            at = self._norms.index(peak) + 1
            yield Finding(
                'exploding gradients',
                f'{self.name}: the norm of the gradient was {first:.3g} at first, and {peak:.3g} '
                f'in update {at}',
                'try a smaller learning rate, optimizer.add_hook(chainer.optimizer_hooks.'
                'GradientClipping(1.0)), or a normalization',
            )


def _is_clipped(optimizer: object) -> bool:
    hookable = getattr(optimizer, '_hookable', None)
    return any(name in getattr(hookable, '_pre_update_hooks', ()) for name in _CLIPPING)


def _unregistered(target: Link) -> dict[str, Link | Parameter]:
    """Return links and parameters with a gradient that are attributes but are not registered."""
    known = {id(link) for link in target.links()} | {id(param) for param in target.params()}
    found: dict[str, Link | Parameter] = {}
    for path, link in target.namedlinks():
        for name, value in vars(link).items():
            if name.startswith('_'):
                continue
            for suffix, one in _elements(value):
                if id(one) not in known and _has_gradient(one):
                    known.add(id(one))
                    found[f'{path.rstrip("/")}/{name}{suffix}'] = one
    return found


def _elements(value: object, depth: int = 0) -> tp.Iterator[tuple[str, Link | Parameter]]:
    """Yields links and parameters in a value; containers may hold themselves."""
    if isinstance(value, Link | Parameter):
        yield '', value
    elif isinstance(value, list | tuple | dict) and depth < _DEEPEST:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            for suffix, one in _elements(inner, depth + 1):
                yield f'[{key!r}]{suffix}', one


def _has_gradient(one: Link | Parameter) -> bool:
    params = one.params() if isinstance(one, Link) else [one]
    return any(p.is_initialized and p.grad is not None for p in params)
