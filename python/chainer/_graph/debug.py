"""Debug mode: says where the first NaN or infinity came from, with the user's own line."""

from __future__ import annotations

import pathlib
import traceback
import typing as tp

import chainerx
import numpy as np

from chainer import backend

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode
    from chainer._typing import Arrays, NdArray

_PACKAGES = (str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(chainerx.__file__).parent))


class NotFiniteError(RuntimeError):
    """A function has made a NaN or an infinity."""


def check_forward(function: FunctionNode, in_data: Arrays, out_data: Arrays) -> None:
    """Raises if an output has a NaN, or an infinity that no input has.

    Raises:
        NotFiniteError: It names the function, the inputs' statistics and the line that called it.
    """
    inputs_have_inf = any(_has(np.isinf, x) for x in in_data)
    for i, y in enumerate(out_data):
        for what, found in (
            ('NaN', _has(np.isnan, y)),
            ('inf', not inputs_have_inf and _has(np.isinf, y)),
        ):
            if found:
                raise NotFiniteError(
                    f'{what} is detected on forward computation of {function.label}: output {i}, '
                    f'{_describe(y)}\n{_inputs(in_data)}{where(function.stack)}'
                )


def check_backward(function: FunctionNode, index: int, grad: NdArray) -> None:
    """Raises if a gradient that the function has computed has a NaN or an infinity.

    Raises:
        NotFiniteError: It names the function, the gradient and the line of the forward call.
    """
    for what, test in (('NaN', np.isnan), ('inf', np.isinf)):
        if _has(test, grad):
            raise NotFiniteError(
                f'{what} is detected on backward computation of {function.label}: gradient of '
                f'input {index}, {_describe(grad)}{where(function.stack)}'
            )


def _has(test: tp.Callable[[tp.Any], tp.Any], array: NdArray) -> bool:
    x = backend.CpuDevice().send(array)
    return x is not None and x.dtype.kind in 'fc' and bool(test(x).any())


def _describe(array: NdArray) -> str:
    x = backend.CpuDevice().send(array)
    text = f'shape {x.shape}, dtype {x.dtype}'
    if x.size == 0 or x.dtype.kind not in 'fc':
        return text
    finite = x[np.isfinite(x)]
    if finite.size:
        text += f', finite values from {finite.min():.6g} to {finite.max():.6g}'
    bad = x.size - finite.size
    return f'{text}, {np.isnan(x).sum()} NaN, {np.isinf(x).sum()} inf' if bad else text


def _inputs(in_data: Arrays) -> str:
    return '\n'.join(f'  input {i}: {_describe(x)}' for i, x in enumerate(in_data))


def where(stack: tp.Any) -> str:
    """The innermost line of the call that is not ours."""
    for frame in reversed(stack or traceback.extract_stack()):
        if not frame.filename.startswith(_PACKAGES):
            return f'\n  called at {frame.filename}:{frame.lineno}: {frame.line}'
    return ''
