"""Names of the values of a graph, and the tensors that it holds."""

from __future__ import annotations

import typing as tp

import onnx

if tp.TYPE_CHECKING:
    from chainerx.onnx._lengths import Lengths


class Names:
    """Names that are taken, and tensors: parameters and constants.

    Attributes:
        parameters (list of onnx.TensorProto): The tensors, in the order in which they were added.
        lengths (Lengths): The open axes; None where there are none.
    """

    def __init__(self) -> None:
        self.parameters: list[onnx.TensorProto] = []
        self.lengths: Lengths | None = None
        self._used: set[str] = set()

    def unused(self, name: str) -> str:
        """The name, or where it is taken, one with a number."""
        found, n = name, 0
        while found in self._used:
            n += 1
            found = f'{name}_{n}'
        self._used.add(found)
        return found

    def add_const(self, array: tp.Any, name: str) -> str:
        """Adds a constant, and returns its whole name."""
        raise NotImplementedError
