"""A trigger that fires once."""

from __future__ import annotations

import typing as tp
import warnings

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class OnceTrigger:
    """Fires when it is asked for the first time.

    Args:
        call_on_resume (bool): Whether it fires once more in a training that is resumed.
    """

    def __init__(self, call_on_resume: bool = False) -> None:
        self._flag_first = True
        self._flag_resumed = call_on_resume

    @property
    def finished(self) -> bool:
        """Whether it will not fire any more."""
        return not (self._flag_first or self._flag_resumed)

    def __call__(self, trainer: Trainer) -> bool:
        """Whether to fire.

        Args:
            trainer (Trainer): The caller.

        Returns:
            bool: Whether this is the first call.
        """
        fire = not self.finished
        self._flag_first = self._flag_resumed = False
        return fire

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads whether it has fired.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        try:
            self._flag_first = bool(serializer('_flag_first', self._flag_first))
        except KeyError:
            warnings.warn(
                'OnceTrigger: the snapshot does not say whether it has fired, so it is taken to '
                'have done so',
                stacklevel=2,
            )
            self._flag_first = False
