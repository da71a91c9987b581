"""Dynamic loss scaling in a step that is recorded (`chainerx.capture`).

Whether all gradients are finite is found out on the device, where an update that is to be left out
is undone; the host looks afterwards, and sets the scale of the next replay. That costs a wait.
"""

from __future__ import annotations

import contextlib
import typing as tp

import chainerx
from chainerx._core import engine

from chainer import backend
from chainer._optim.update_rule import unscale
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer._optim.optimizer import GradientMethod, Optimizer
    from chainer.variable import Parameter


class Scaling:
    """What steps that are recorded know of the loss scale of an optimizer."""

    def __init__(self) -> None:
        self.scale: tp.Any = None  # on the device
        self._sent: float | None = None  # its value
        # Of the step under way: whether its loss was multiplied with `scale`; by parameter, whether
        # the gradient is finite; their paths.
        self.is_used = False
        self.flags: tp.Any = None
        self.paths: list[str] = []

    def send(self, scale: float) -> None:
        """Brings the scale on the device up to date."""
        if self._sent != scale:
            self.scale.fill(scale)
            self._sent = scale

    def scale_on(self, device: tp.Any, scale: float) -> tp.Any:
        """The array with the scale, the same one for all steps that are recorded."""

        def prepare() -> None:
            if self.scale is None or self.scale.device is not device:
                self.scale, self._sent = chainerx.empty((), 'float64', device), None
            self.send(scale)

        engine.unobserved(prepare)
        return self.scale


def of(optimizer: Optimizer) -> Scaling:
    """The scaling of an optimizer, made when first needed."""
    if optimizer._scaling is None:
        optimizer._scaling = Scaling()
    return optimizer._scaling


def backward(optimizer: GradientMethod, loss: Variable) -> bool:
    """Backpropagates from a loss times the scale that is on the device.

    False, and nothing done, if that is not possible: the recording is refused.
    """
    y = loss.array
    if not isinstance(y, chainerx.ndarray) or loss.grad is not None:
        engine.refuse_capture('a loss that is no array of chainerx has a dynamic scale')
        return False
    scaling, scale = of(optimizer), tp.cast(float, optimizer._loss_scale)
    seed = chainerx.broadcast_to(scaling.scale_on(y.device, scale).astype(y.dtype), y.shape)
    loss._backward_scaled(scale, seed=Variable(seed, requires_grad=False))
    scaling.is_used = True
    return True


def unscale_all(optimizer: GradientMethod, params: list[Parameter]) -> None:
    """Divides gradients by their loss scales: by that on the device, where the loss has that."""
    scaling = optimizer._scaling
    scale = scaling.scale if scaling is not None and scaling.is_used else None
    for param in params:
        is_used = scale is not None and param.loss_scale == optimizer._loss_scale
        unscale(param, scale if is_used else None)


def find_not_finite(optimizer: Optimizer) -> str | None:
    """The path of the first parameter whose gradient is not finite, as each replay will find it."""
    named = [(path, p.grad) for path, p in optimizer.target.namedparams(False)]
    named = [(path, grad) for path, grad in named if grad is not None]
    scaling = of(optimizer)
    scaling.paths, scaling.flags = [path for path, _ in named], None
    grads = [grad for _, grad in named]
    if not grads:
        return None
    devices = {backend.get_device_from_array(grad) for grad in grads}
    device = devices.pop()
    if devices or device.xp is not chainerx:
        engine.refuse_capture('gradients of several devices, or not of chainerx, are looked at')
        return None
    with backend.using_device(device), chainerx.no_backprop_mode():
        scaling.flags = chainerx.stack([chainerx.isfinite(grad).all() for grad in grads])
    flags = scaling.flags
    return _first_of(scaling.paths, engine.unobserved(flags.tolist))


def look(optimizer: GradientMethod, paths: list[str], flags: list[bool]) -> bool:
    """Has the optimizer know what a replay has found; returns whether all were finite."""
    path = _first_of(paths, flags)
    optimizer._note_not_finite(path)
    return path is None


def _first_of(paths: list[str], flags: list[bool]) -> str | None:
    return next((path for path, ok in zip(paths, flags, strict=True) if not ok), None)


@contextlib.contextmanager
def masked(optimizer: GradientMethod, params: list[Parameter]) -> tp.Iterator[None]:
    """A context in which parameters are updated, but for a step whose gradients are not finite."""
    flags = of(optimizer).flags if optimizer._loss_scaling_is_dynamic else None
    if flags is None:
        yield
        return
    arrays = [param.array for param in params]
    written = list(arrays)
    for rule in (param.update_rule for param in params):
        if rule._fp32_param is not None:
            written.append(rule._fp32_param.array)
        written += [x for x in (rule._state or {}).values() if isinstance(x, chainerx.ndarray)]
    versions = list(map(engine.version, arrays))
    with chainerx.using_device(flags.device), chainerx.no_backprop_mode():
        is_finite = flags.all()
        before = [x.copy() for x in written]
        yield
        for x, old in zip(written, before, strict=True):
            x[...] = chainerx.where(is_finite, x, old)
    for array, version in zip(arrays, versions, strict=True):
        engine.forget_writes(array, version)  # as after any update
