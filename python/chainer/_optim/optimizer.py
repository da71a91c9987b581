"""The bases of optimizers and of their update rules, and loss scaling."""

from __future__ import annotations

import collections.abc
import contextlib
import typing as tp
import warnings
import weakref

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend, optimizer_hooks
from chainer._optim import captured_scaling, captured_update, fused_update
from chainer._optim.hookable import Hook, _Hookable, _OptimizerHookable
from chainer._optim.hyperparameter import Hyperparameter, HyperparameterProxy, Interval
from chainer._optim.update_rule import UpdateRule, unscale
from chainer.link import Link
from chainer.serializer import AbstractSerializer, Deserializer
from chainer.variable import Parameter, Variable

__all__ = [
    'GradientClipping',
    'GradientHardClipping',
    'GradientMethod',
    'GradientNoise',
    'Hyperparameter',
    'HyperparameterProxy',
    'Lasso',
    'Optimizer',
    'UpdateRule',
    'WeightDecay',
    'make_deprecation_message',
]

# Where users know them; pickles name them so.
for _class in (Hyperparameter, HyperparameterProxy, _Hookable, _OptimizerHookable):
    _class.__module__ = __name__


class Optimizer:
    """Base of all optimizers.

    Attributes:
        target (Link): The link to optimize; None before `setup`.
        t (int): The number of updates.
        epoch (int): The number of the current epoch.
        use_auto_new_epoch (bool): Whether an updater calls `new_epoch`.
    """

    target: tp.Any = None
    t = 0
    epoch = 0
    use_auto_new_epoch = False
    _hookable: _OptimizerHookable | None = None
    _loss_scale: float | None = None
    # The largest number of float16.
    _loss_scale_max = 65504
    _loss_scaling_is_dynamic = False
    _loss_scaling_multiplier = 1.0
    _loss_scaling_isnan = False
    _loss_scaling_isnan_ever = False
    _scaling: captured_scaling.Scaling | None = None

    def setup(self, link: Link) -> tp.Self:
        """Begins to optimize a link, with no hooks and from step 0.

        Args:
            link (Link): Which.

        Returns:
            This optimizer.

        Raises:
            TypeError: If it is no link.
        """
        if not isinstance(link, Link):
            raise TypeError(f'optimization target must be a link, not {type(link).__name__}')
        self.target = link
        self.t = 0
        self.epoch = 0
        self._hookable = _OptimizerHookable(self)
        return self

    def update(self, lossfun: tp.Any = None, *args: tp.Any, **kwds: tp.Any) -> None:
        """Updates the parameters of the target. Overridden.

        Args:
            lossfun (callable): Makes the loss; None takes the gradients that are there.
            *args: For ``lossfun``.
            **kwds: For ``lossfun``.
        """
        raise NotImplementedError(f'{type(self).__name__}.update is not implemented')

    def new_epoch(self, auto: bool = False) -> None:
        """Counts an epoch.

        Args:
            auto (bool): Whether an updater calls this.

        Raises:
            RuntimeError: If both an updater and the user do.
        """
        if auto and not self.use_auto_new_epoch:
            raise RuntimeError(
                'invalid new_epoch call with auto=True.\n'
                'Fix the updater to set optimizer.use_auto_new_epoch = True.'
            )
        if self.use_auto_new_epoch and not auto:
            raise RuntimeError(
                'duplicated new_epoch with the updater.\nPass auto_new_epoch=False to the updater '
                'or stop calling new_epoch outside the updater.'
            )
        self.epoch += 1

    def _check_set_up(self) -> None:
        if self._hookable is None or self.target is None:
            raise RuntimeError(
                f'Optimizer is not set up. Call `setup` method. ({type(self).__name__})'
            )

    # ---- hooks ----

    def add_hook(self, hook: Hook, name: str | None = None, timing: str = 'auto') -> None:
        """Adds a function that each update calls: ``hook(optimizer)``.

        With a true attribute ``call_for_each_param``: ``hook(rule, param)`` for each parameter.

        Args:
            hook (callable): May have attributes ``name`` and ``timing``.
            name (str): Default: the hook's name.
            timing (str): ``'pre'`` (gradients are there), ``'post'`` (parameters are updated), or
                ``'auto'``: the timing of the hook, else ``'pre'``.

        Raises:
            RuntimeError: Before `setup`.
            KeyError: If there is a hook of that name.
        """
        self._hooks().add_hook(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Removes a hook by its name.

        Args:
            name (str): Of the hook.
        """
        self._hooks().remove_hook(name)

    def call_hooks(self, timing: str = 'pre') -> None:
        """Calls the hooks of a timing, in the order in which they were added.

        Args:
            timing (str): 'pre' or 'post'.
        """
        self._hooks().call_hooks(timing, (self,))

    def call_hook(self, hook: Hook) -> None:
        """Calls one hook, for each parameter if it wants that.

        Parameters without a rule come with None for it.

        Args:
            hook (callable): One that was added.
        """
        if getattr(hook, 'call_for_each_param', False):
            for param in _distinct(self.target.params()):
                hook(param.update_rule, param)
        else:
            hook(self)

    def _hooks(self) -> _OptimizerHookable:
        self._check_set_up()
        return tp.cast(_OptimizerHookable, self._hookable)

    # ---- serialization ----

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads ``t``, ``epoch`` and the states of the rules, not the parameters.

        A dynamic loss scale, too, which snapshots of Chainer v7 lack.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        self._check_set_up()
        t, epoch = serializer('t', self.t), serializer('epoch', self.epoch)
        for path, param in self.target.namedparams():
            rule = getattr(param, 'update_rule', None)
            if rule is None:
                continue
            if getattr(type(rule), 'serialize', None) is UpdateRule.serialize:
                rule._serialize(serializer[path], param)
            else:
                rule.serialize(serializer[path])
        scale, ever = self._loss_scale, self._loss_scaling_isnan_ever
        if self._loss_scaling_is_dynamic:
            with contextlib.suppress(KeyError):
                scale = float(serializer('loss_scale', float(tp.cast(float, scale))))
                ever = bool(serializer('loss_scaling_isnan_ever', ever))
        if isinstance(serializer, Deserializer):
            self._loss_scale, self._loss_scaling_isnan_ever = scale, ever
            t, epoch = int(t), int(epoch)
        self.t, self.epoch = t, epoch

    # ---- loss scaling ----

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Scales losses, so that gradients of 16 bits do not vanish.

        Args:
            interval (int): Without ``scale``, how many updates it takes to double the scale. Where
                gradients overflow, the scale is halved and the update left out.
            scale (float): The scale, which stays then; the same as `set_loss_scale`. To have one
                grow and shrink from another start than 1, set it after a call without it.
        """
        if interval < 1:
            raise ValueError(f'interval must be greater than or equal to 1. Actual: {interval}')
        if scale is not None:
            self.set_loss_scale(scale)
            return
        self.set_loss_scale(1.0)
        self._loss_scaling_is_dynamic = True
        self._loss_scaling_multiplier = 2.0 ** (1.0 / interval)
        self._loss_scaling_isnan_ever = False

    def set_loss_scale(self, loss_scale: float) -> None:
        """Sets the factor that losses are multiplied with.

        Args:
            loss_scale (float): The factor.
        """
        if not 0 < loss_scale < float('inf'):
            raise ValueError(f'loss_scale must be a positive number. Actual: {loss_scale}')
        self._loss_scale = loss_scale

    def check_nan_in_grads(self) -> None:
        """Looks for gradients that are not finite, and warns of the first; see `is_safe_to_update`.

        Does nothing unless the loss scale is dynamic.
        """
        self._loss_scaling_isnan = False
        if not self._loss_scaling_is_dynamic:
            return
        self._check_set_up()
        if engine.is_capturing():
            path = captured_scaling.find_not_finite(self)
        else:
            path = _find_not_finite(self.target)
        self._note_not_finite(path)

    def _note_not_finite(self, path: str | None) -> None:
        """Notes which parameter's gradient is not finite."""
        self._loss_scaling_isnan = path is not None
        if path is not None:
            self._loss_scaling_isnan_ever = True
            warnings.warn(
                f'Non finite number found in param.grad of {path} (iteration: {self.t}, '
                f'loss_scale: {self._loss_scale})',
                stacklevel=3,
            )

    def is_safe_to_update(self) -> bool:
        """Whether `check_nan_in_grads` found all gradients finite."""
        return not self._loss_scaling_isnan

    def update_loss_scale(self) -> None:
        """Makes a dynamic loss scale larger, or smaller after gradients that were not finite."""
        if not self._loss_scaling_is_dynamic:
            return
        scale = tp.cast(float, self._loss_scale)
        if self._loss_scaling_isnan:
            factor = 0.5
        elif self._loss_scaling_isnan_ever:
            factor = self._loss_scaling_multiplier
        else:
            # Up to the first overflow there is no telling how far there is to go.
            factor = 2.0
        self._loss_scale = max(1, min(self._loss_scale_max, scale * factor))


def _find_not_finite(target: Link) -> str | None:
    """The path of the first parameter whose gradient is not finite."""
    for path, param in target.namedparams(False):
        grad = param.grad
        if grad is not None and not _all_finite(grad):
            return path
    return None


def _all_finite(grad: tp.Any) -> bool:
    xp = backend.get_array_module(grad)
    with backend.using_device(backend.get_device_from_array(grad)):
        return bool(xp.isfinite(grad).all())


class GradientMethod(Optimizer):
    """Base of optimizers that update each parameter by its gradient.

    A subclass has `create_update_rule`, or overrides `update`.

    Attributes:
        hyperparam (Hyperparameter): The hyperparameters that all update rules share.
    """

    # Limits of hyperparameters, by name.
    _limits: tp.ClassVar[dict[str, Interval] | None] = None
    # Default hyperparameters and rule classes of the optimizers of `chainer.optimizers`.
    _defaults: tp.ClassVar[Hyperparameter]
    _rule_class: tp.ClassVar[type[UpdateRule] | None] = None
    _plan: tp.Any = None

    def __init__(self) -> None:
        super().__init__()
        self.hyperparam = Hyperparameter()
        if self._limits:
            self.hyperparam._limits = type(self).__name__, self._limits
        self._use_fp32_update = False

    def __getstate__(self) -> dict[str, tp.Any]:
        # Of objects of this process.
        return {k: v for k, v in self.__dict__.items() if k not in _OF_THIS_PROCESS}

    def setup(self, link: Link) -> tp.Self:
        """Begins to optimize a link: all of its parameters get update rules.

        Parameters that are added to the link later are not updated until this is called again.

        Args:
            link (Link): Which.

        Returns:
            This optimizer.
        """
        super().setup(link)
        params = _distinct(link.params())
        for param in params:
            param.update_rule = self.create_update_rule()
            if self._use_fp32_update:
                param.update_rule.use_fp32_update()
        self._managed = {id(param): weakref.ref(param) for param in params}
        return self

    def create_update_rule(self) -> UpdateRule:
        """Makes a rule for one parameter. Overridden."""
        if self._rule_class is not None:
            return self._rule_class(self.hyperparam)
        raise NotImplementedError(f'{type(self).__name__}.create_update_rule is not implemented')

    def use_fp32_update(self, flag: bool = True) -> None:
        """Updates parameters of 16 bits through copies in float32; see `UpdateRule`.

        Args:
            flag (bool): Whether to.
        """
        self._use_fp32_update = flag
        if self.target is not None:
            for param in _distinct(self.target.params()):
                if param.update_rule is not None:
                    param.update_rule.use_fp32_update(flag)

    def use_cleargrads(self, use: bool = True) -> None:
        """Says whether `update` with a loss clears gradients instead of zeroing them.

        Deprecated.

        Args:
            use (bool): Whether it does.
        """
        warnings.warn(
            'GradientMethod.use_cleargrads is deprecated.', DeprecationWarning, stacklevel=2
        )
        self._use_cleargrads = use

    def reallocate_cleared_grads(self) -> None:
        """Makes missing gradients zeros, so that hooks and momentum act on their parameters."""
        self._check_set_up()
        for param in self.target.params(False):
            if param.grad is None:
                with backend.using_device(param.device):
                    param.grad = param.xp.zeros_like(param.array)

    def call_hook(self, hook: Hook) -> None:
        """Calls one hook; gradients that it clears are zeros for the next one.

        Args:
            hook (callable): One that was added.
        """
        super().call_hook(hook)
        self.reallocate_cleared_grads()

    def update(self, lossfun: tp.Any = None, *args: tp.Any, **kwds: tp.Any) -> None:
        """Updates all parameters by their gradients.

        Args:
            lossfun (callable): If given, ``lossfun(*args, **kwds)`` is differentiated first, else
                gradients are taken as they are.
            *args: For ``lossfun``.
            **kwds: For ``lossfun``.

        Raises:
            RuntimeError: Before `setup`; and if a parameter is uninitialized and its gradient has
                not been cleared.
        """
        if lossfun is not None:
            self._check_set_up()
            if not callable(lossfun):
                raise TypeError(
                    f'{type(self).__name__}.update: lossfun is a {type(lossfun).__name__}, '
                    'expected a function that returns the loss; after loss.backward() call update()'
                )
            self._compute_gradients(lossfun, args, kwds)
        # Nothing to do but the step: no hooks, and (as the plan finds) no gradient is missing.
        if self._plan is not None and fused_update.repeat(self):
            if engine.is_capturing():
                captured_update.leave_out_counts(self)
            return
        self._check_set_up()
        params = _distinct(self.target.params())
        self._check_params(params)
        self.reallocate_cleared_grads()
        self.check_nan_in_grads()
        # Before the hooks, so that a rate or a threshold means the same with any loss scale.
        if engine.is_capturing():
            captured_scaling.unscale_all(self, params)
        else:
            for param in params:
                unscale(param)
        self.call_hooks('pre')
        self.t += 1
        # A step that is recorded is undone on the device if it was not safe.
        if self.is_safe_to_update() or engine.is_capturing():
            self._update_params(params)
        self.reallocate_cleared_grads()
        if engine.is_capturing():
            captured_update.call_post_hooks(self, params)
        else:
            self.call_hooks('post')
        self.update_loss_scale()

    def _is_plain(self) -> bool:
        """Whether an update has no parts but the step itself."""
        overridden = self._overridden_part() is not None
        return not (overridden or self._hookable or self._loss_scaling_is_dynamic)

    def _overridden_part(self) -> str | None:
        """The name of a part of an update that a subclass has of its own."""
        for name in _PARTS_OF_UPDATE:
            if getattr(type(self), name) is not getattr(GradientMethod, name):
                return name
        return None

    def _compute_gradients(self, lossfun: tp.Any, args: tp.Any, kwds: tp.Any) -> None:
        if self._scaling is not None:
            self._scaling.is_used = False
        loss = lossfun(*args, **kwds)
        if not isinstance(loss, Variable):
            _check_loss(loss, lossfun, type(self).__name__)
        if getattr(self, '_use_cleargrads', True):
            self.target.cleargrads()
        else:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore', DeprecationWarning)
                self.target.zerograds()
        if self._loss_scale is None:
            loss.backward()
        elif isinstance(loss, Variable):
            on_device = self._loss_scaling_is_dynamic and engine.is_capturing()
            if not (on_device and captured_scaling.backward(self, loss)):
                loss._backward_scaled(self._loss_scale)
        else:
            loss.backward(loss_scale=self._loss_scale)

    def _update_params(self, params: list[Parameter]) -> None:
        if engine.is_capturing():
            if captured_update.update(self, params):
                return
            if not self.is_safe_to_update():
                return
        if fused_update.update(self, params):
            return
        rules = [p.update_rule for p in params if _is_built_in(p.update_rule)]
        counts = [rule.t for rule in rules]
        try:
            for param in params:
                param.update()
        except BaseException:
            # Broken off, by Ctrl-C for example, the step counts for all parameters: rules that
            # do not count alike would never again be updated in one call.
            for rule, t in zip(rules, counts, strict=True):
                if rule.enabled and rule.t == t:
                    rule.t = t + 1
            raise

    def _check_params(self, params: list[Parameter]) -> None:
        managed = getattr(self, '_managed', None)
        for param in params:
            rule = param.update_rule
            if rule is None:
                if managed is not None and not _is_among(param, managed):
                    managed[id(param)] = weakref.ref(param)
                    warnings.warn(
                        f'{type(self).__name__}.update: parameter {self._path_of(param)} came into '
                        'the link after setup, and is not updated; call setup again, or give it an '
                        'update_rule',
                        stacklevel=3,
                    )
            elif not (_is_built_in(rule) and rule.enabled):
                pass  # a rule of the user's may handle it
            elif param.array is None and callable(param._grad_initializer):
                raise RuntimeError(
                    f'{type(self).__name__}.update: parameter {self._path_of(param)} is '
                    'uninitialized; call the link once, or its cleargrads()'
                )
            elif isinstance(param.array, np.ndarray) and not param.array.flags.writeable:
                raise ValueError(
                    f'{type(self).__name__}.update: parameter {self._path_of(param)} is read-only; '
                    'disable its update rule, or give it an array that can be written to'
                )

    def _path_of(self, param: Parameter) -> str:
        return next(path for path, other in self.target.namedparams() if other is param)


_OF_THIS_PROCESS: tp.Final = ('_managed', '_plan', '_parts', '_scaling')

# The other methods that `GradientMethod.update` calls besides the step.
_PARTS_OF_UPDATE: tp.Final = (
    'reallocate_cleared_grads',
    'check_nan_in_grads',
    'call_hooks',
    'is_safe_to_update',
    'update_loss_scale',
    '_update_params',
)


def _check_loss(loss: tp.Any, lossfun: tp.Any, owner: str) -> None:
    """Refuses a loss without a graph; any object with ``backward`` will do."""
    of_no_graph = isinstance(loss, chainerx.ndarray) and not loss.is_backprop_required()
    if of_no_graph or not hasattr(loss, 'backward'):
        name = getattr(lossfun, '__qualname__', type(lossfun).__qualname__)
        raise TypeError(
            f'{owner}.update: the loss is a {type(loss).__name__} that is part of no graph, '
            f'expected a Variable; {name} returned it'
        )


def _is_built_in(rule: UpdateRule | None) -> bool:
    """Return whether the rule is one of the formulas of `chainer.optimizers`."""
    return getattr(type(rule), 'fused', None) is not None


def _is_among(param: Parameter, params: dict[int, weakref.ref[tp.Any]]) -> bool:
    ref = params.get(id(param))
    return ref is not None and ref() is param  # not one that has gone, and whose id is used again


def _distinct(params: collections.abc.Iterable[tp.Any]) -> list[tp.Any]:
    """Each parameter once: one that is registered in two places makes one step.

    Without the variables that stand in the place of one: no step is theirs.
    """
    return [p for p in {id(p): p for p in params}.values() if hasattr(p, 'update_rule')]


def make_deprecation_message(module_name: str) -> str:
    """The text about a hook that is used under its old name.

    Args:
        module_name (str): Of the hook.

    Returns:
        str: It tells the new name.
    """
    return (
        f'chainer.optimizer.{module_name} is deprecated from v4. '
        f'Use chainer.optimizer_hooks.{module_name} instead.'
    )


def _deprecated(base: type[tp.Any]) -> tp.Any:
    def __init__(self: tp.Any, *args: tp.Any, **kwargs: tp.Any) -> None:
        warnings.warn(make_deprecation_message(base.__name__), DeprecationWarning, stacklevel=2)
        base.__init__(self, *args, **kwargs)

    doc = f'Deprecated: use :class:`chainer.optimizer_hooks.{base.__name__}`.'
    return type(base.__name__, (base,), {'__init__': __init__, '__doc__': doc})


GradientClipping = _deprecated(optimizer_hooks.GradientClipping)
GradientHardClipping = _deprecated(optimizer_hooks.GradientHardClipping)
GradientNoise = _deprecated(optimizer_hooks.GradientNoise)
Lasso = _deprecated(optimizer_hooks.Lasso)
WeightDecay = _deprecated(optimizer_hooks.WeightDecay)
