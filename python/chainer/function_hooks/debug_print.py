"""A hook that prints the inputs and outputs of functions."""

from __future__ import annotations

import sys
import typing as tp

from chainer import backend, variable
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays, NdArray


class PrintHook(FunctionHook):
    """Prints each function with its inputs and, in backward, the gradients of its outputs.

    Args:
        sep, end, file, flush: As of ``print``.
    """

    name = 'PrintHook'

    def __init__(
        self,
        sep: str | None = None,
        end: str = '\n',
        file: tp.TextIO | None = None,
        flush: bool = True,
    ) -> None:
        self.sep = sep
        self.end = end
        self.file = file
        self.flush = flush

    def _print(self, text: str) -> None:
        # Looked up now, because standard output may have been replaced meanwhile.
        print(text, sep=self.sep, end=self.end, file=self.file or sys.stdout, flush=self.flush)

    def _process(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays | None = None
    ) -> None:
        self._print(f'function\t{function.label}')
        self._print('input data')
        for x in in_data:
            self._print('(removed)' if x is None else _describe(x, None))
        if out_grad is None:
            return
        self._print('output gradient')
        for g in out_grad:
            self._print('(removed)' if g is None else _describe(None, g))

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        self._process(function, in_data)

    def backward_preprocess(
        self, function: FunctionNode, in_data: Arrays, out_grad: Arrays
    ) -> None:
        self._process(function, in_data, out_grad)


def _describe(array: NdArray | None, grad: NdArray | None) -> str:
    if array is None:
        with backend.using_device(backend.get_device_from_array(grad)):
            array = backend.get_array_module(grad).zeros_like(grad)
    v = variable.Variable(array, grad=grad, requires_grad=grad is not None)
    return v.debug_print()
