"""An extension that cuts the graphs of observed values."""

from __future__ import annotations

import typing as tp

from chainer import configuration
from chainer.training import extension
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer.training.trainer import Trainer


class unchain_variables(extension.Extension):
    """Lets losses keep their graph until other extensions have seen it.

    With it, reported Variables keep their graphs (``config.keep_graph_on_report``) until this
    extension is called, at the end of an iteration, which frees them.
    """

    priority = 0

    def __init__(self) -> None:
        self._prev_flag: bool | None = None

    def initialize(self, trainer: Trainer) -> None:
        """Begins to keep graphs.

        Args:
            trainer (Trainer): The caller.
        """
        self._prev_flag = configuration.config.keep_graph_on_report
        configuration.config.keep_graph_on_report = True

    def trigger(self, trainer: Trainer) -> bool:
        """Fires in each iteration.

        Args:
            trainer (Trainer): The caller.
        """
        return True

    def __call__(self, trainer: Trainer) -> None:
        """Cuts off the graphs.

        Args:
            trainer (Trainer): Whose observation holds them.
        """
        for value in trainer.observation.values():
            if isinstance(value, Variable):
                value.unchain_backward()

    def finalize(self) -> None:
        """Goes back to the configuration from before."""
        if self._prev_flag is not None:
            configuration.config.keep_graph_on_report = self._prev_flag
            self._prev_flag = None
