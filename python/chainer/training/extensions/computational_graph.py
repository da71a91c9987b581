"""An extension that draws the graph of a loss."""

from __future__ import annotations

import os
import typing as tp

from chainer import computational_graph, configuration
from chainer.serializer import Serializer
from chainer.training import extension
from chainer.training.extensions._files import write_text
from chainer.variable import Variable

if tp.TYPE_CHECKING:
    from chainer.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer


class DumpGraph(extension.Extension):
    """Writes the graph of a reported Variable to a file, once, in the first iteration.

    Args:
        root_name (str): Name of the Variable in the observation, such as ``'main/loss'``.
        filename (str): Name of the file in the trainer's folder; default: ``'cg.dot'``.
        variable_style (dict): Attributes of Graphviz for variables.
        function_style (dict): Attributes of Graphviz for functions.
        **kwargs: ``out_name``, the old name of ``filename``.
    """

    default_name = 'dump_graph'

    def __init__(
        self,
        root_name: str,
        filename: str | None = None,
        variable_style: dict[str, str] | None = None,
        function_style: dict[str, str] | None = None,
        **kwargs: tp.Any,
    ) -> None:
        out_name = kwargs.pop('out_name', 'cg.dot')
        extension.refuse('DumpGraph', kwargs)
        self._root_name = root_name
        self._filename = filename or out_name
        self._variable_style = variable_style
        self._function_style = function_style
        self._original_flag: bool | None = None
        self._flag_called = False

    def initialize(self, trainer: Trainer) -> None:
        """Lets reported Variables keep their graphs until it has drawn.

        Args:
            trainer (Trainer): The caller.
        """
        if not self._flag_called:
            self._original_flag = configuration.config.keep_graph_on_report
            configuration.config.keep_graph_on_report = True

    def trigger(self, trainer: Trainer) -> bool:
        """Fires once.

        Args:
            trainer (Trainer): The caller.
        """
        if self._flag_called:
            return False
        self._flag_called = True
        return True

    def __call__(self, trainer: Trainer) -> None:
        """Draws.

        Args:
            trainer (Trainer): Whose observation has the Variable.

        Raises:
            KeyError: If it has not.
            TypeError: If it is no Variable.
        """
        try:
            if self._root_name not in trainer.observation:
                raise KeyError(
                    f'DumpGraph: {self._root_name!r} was not observed; the observation has '
                    f'{", ".join(map(repr, trainer.observation)) or "nothing"}'
                )
            root = trainer.observation[self._root_name]
            if not isinstance(root, Variable):
                raise TypeError(
                    f'root value is not a Variable: {self._root_name!r} is {type(root).__name__}'
                )
            graph = computational_graph.build_computational_graph(
                [root],
                variable_style=self._variable_style,
                function_style=self._function_style,
            )
            write_text(os.path.join(trainer.out, self._filename), graph.dump())
        finally:
            self.finalize()

    def finalize(self) -> None:
        """Goes back to the configuration from before."""
        if self._original_flag is not None:
            configuration.config.keep_graph_on_report = self._original_flag
            self._original_flag = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Saves or loads whether it has drawn.

        Args:
            serializer (AbstractSerializer): Where to or from.
        """
        if isinstance(serializer, Serializer):
            serializer('_original_flag', bool(self._original_flag))  # which Chainer v7 asks for
        self._flag_called = bool(serializer('_flag_called', self._flag_called))


dump_graph = DumpGraph
