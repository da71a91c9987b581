"""An extension that stops a training whose numbers are none any more."""

from __future__ import annotations

import typing as tp

from chainer import backend
from chainer.training import extension

if tp.TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class FailOnNonNumber(extension.Extension):
    """Raises when a parameter is NaN or infinite.

    Parameters follow the loss within one update, so this finds a loss that is NaN, too. It looks at
    each number of each parameter: with `Trainer.extend` it can be called less often.
    """

    def __call__(self, trainer: Trainer) -> None:
        """Looks at the parameters of all optimizers.

        Args:
            trainer (Trainer): Who calls.

        Raises:
            RuntimeError: If one is not finite; it says which, and what was observed.
        """
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams(include_uninit=False):
                with backend.using_device(param.device):
                    finite = bool(param.xp.isfinite(param.array).all())
                if not finite:
                    raise RuntimeError(
                        f"Kill the process since parameters in optimizer '{name}' diverge. R.I.P. "
                        f'{path} is not finite after iteration {trainer.updater.iteration}'
                        f'{_observed(trainer)}'
                    )


def _observed(trainer: Trainer) -> str:
    numbers = []
    for key, value in trainer.observation.items():
        array = getattr(value, 'array', value)
        if getattr(array, 'ndim', 0) == 0:
            numbers.append(f'{key} = {float(array):g}')
    return f'; {", ".join(numbers)}' if numbers else ''
