"""An extension that stops a training whose numbers are none any more."""

from __future__ import annotations

import contextlib
import typing as tp

from chainer import backend
from chainer.training import extension
from chainer.training.extensions._numbers import to_number

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray
    from chainer.optimizer import Optimizer
    from chainer.training.trainer import Trainer


class FailOnNonNumber(extension.Extension):
    """Raises when a parameter is NaN or infinite.

    Parameters follow the loss within one update, so this finds a loss that is NaN, too. It looks at
    each number of each parameter: with `Trainer.extend` it can be called less often.

    Args:
        before_update (bool): Whether it looks at all gradients, too, before each update: parameters
            then are as they were before the step that would have spoilt them, for a snapshot with
            ``snapshot_on_error`` for example. With a dynamic loss scale, which leaves such steps
            out by itself, it does not.
    """

    def __init__(self, before_update: bool = False) -> None:
        self._before_update = before_update
        self._hooked: list[tuple[Optimizer, str]] = []

    def initialize(self, trainer: Trainer) -> None:
        """Gets to see gradients before updates, if it is to.

        Args:
            trainer (Trainer): The caller.
        """
        if not self._before_update:
            return
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            hook_name = f'{self.name or self.default_name}:{name}'
            optimizer.add_hook(_Check(name, trainer), hook_name, timing='pre')
            self._hooked.append((optimizer, hook_name))

    def finalize(self) -> None:
        """Leaves the optimizers as they were."""
        while self._hooked:
            optimizer, hook_name = self._hooked.pop()
            optimizer.remove_hook(hook_name)

    def __call__(self, trainer: Trainer) -> None:
        """Looks at the parameters of all optimizers.

        Args:
            trainer (Trainer): The caller.

        Raises:
            RuntimeError: If one is not finite; it names the parameter and the observation.
        """
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams(include_uninit=False):
                if not _is_finite(param.device, param.array):
                    raise RuntimeError(
                        f"Kill the process since parameters in optimizer '{name}' diverge. R.I.P. "
                        f'{path} is not finite after iteration {trainer.updater.iteration}'
                        f'{_observed(trainer)}'
                    )


class _Check:
    """A hook of an optimizer that looks at the gradients."""

    def __init__(self, name: str, trainer: Trainer) -> None:
        self._name = name
        self._trainer = trainer

    def __call__(self, optimizer: Optimizer) -> None:
        if optimizer._loss_scaling_is_dynamic:
            return
        for path, param in optimizer.target.namedparams(include_uninit=False):
            grad = param.grad
            if grad is not None and not _is_finite(param.device, grad):
                raise RuntimeError(
                    f"Kill the process since gradients in optimizer '{self._name}' diverge. The "
                    f'gradient of {path} is not finite in iteration '
                    f'{self._trainer.updater.iteration + 1}, whose update was not made'
                    f'{_observed(self._trainer)}'
                )


def _is_finite(device: backend.Device, array: NdArray) -> bool:
    with backend.using_device(device):
        return bool(device.xp.isfinite(array).all())


def _observed(trainer: Trainer) -> str:
    numbers = []
    for key, value in trainer.observation.items():
        with contextlib.suppress(TypeError, ValueError):  # texts and arrays of many
            numbers.append(f'{key} = {float(to_number(value)):g}')
    return f'; {", ".join(numbers)}' if numbers else ''
