"""Constants along open axes, such as the zeros that an LSTM begins with."""

from __future__ import annotations

import typing as tp

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_chainer.converters import Conversion

if tp.TYPE_CHECKING:
    from chainerx.onnx._lengths import Lengths

    from onnx_chainer.converters import FunctionConverterParams

# Inputs of these are as long as each other, or have length 1.
ELEMENTWISE: tp.Final = frozenset(
    (
        *('Add', 'Sub', 'Mul', 'Div', 'MultiAdd', 'Maximum', 'Minimum', 'PowVarVar', 'Where'),
        *('LinearInterpolate', 'Fmod', 'Arctan2', 'SquaredError', 'AbsoluteError', 'HuberLoss'),
        *('MeanSquaredError', 'MeanAbsoluteError'),
    )
)


def opened(
    params: FunctionConverterParams, i: int, tensor: onnx.TensorProto
) -> tuple[str, tuple[onnx.NodeProto, ...]] | None:
    """A constant with the lengths that the other inputs of the function have.

    It is opened along axes on which another input has an open length, and its elements are all the
    same; ``tensor`` keeps the first of them. None if there is no such axis.

    Args:
        params (FunctionConverterParams): The function.
        i (int): Which input the constant is.
        tensor (onnx.TensorProto): The constant; it may change.

    Returns:
        tuple: The name of the value in place of the constant, and the nodes that make it.
    """
    g = Conversion(params)
    array = numpy_helper.to_array(tensor)
    axes: dict[int, tuple[str, int]] = {}
    for k, other in enumerate(g.x):
        if k == i or not other:
            continue
        for axis, place in _meeting_axes(g, i, k):
            is_open = not isinstance(g.lengths(k)[place], int)
            is_as_long = g.shape(k)[place] == array.shape[axis]
            if is_open and is_as_long and (array == array.take([0], axis)).all():
                axes.setdefault(axis, (other, place))
    if not axes or g.opset < 8:
        return None
    first = tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(array.ndim))
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array[first]), tensor.name))
    parts = [
        g.length_of(*axes[axis]) if axis in axes else g.ints([n])
        for axis, n in enumerate(array.shape)
    ]
    y = g.op('Expand', [tensor.name, g.concat(parts)])
    lengths = tp.cast('Lengths', g.context.lengths)
    known = {axis: tp.cast(tuple, lengths.of(x))[place] for axis, (x, place) in axes.items()}
    lengths.hints[y] = [known.get(axis, n) for axis, n in enumerate(array.shape)]
    return y, g.nodes()


def _meeting_axes(g: Conversion, i: int, k: int) -> tp.Iterator[tuple[int, int]]:
    """Axes of input i, and those of input k that have the same length."""
    kind = type(g.func).__name__
    ndim, other = len(g.shape(i)), len(g.shape(k))
    if kind in ELEMENTWISE:
        for axis in range(ndim):
            place = axis + other - ndim
            # A length of 1 fits any.
            if place >= 0 and g.shape(i)[axis] > 1:
                yield axis, place
    elif kind == 'Concat':
        for axis in range(ndim):
            if axis != g.func.axis % ndim and g.shape(i)[axis] > 0:
                yield axis, axis
    elif kind == 'LSTM' and g.shape(i)[0] > 0:
        yield 0, 0
