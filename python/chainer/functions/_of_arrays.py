"""Helpers that libraries import from modules of v7, where their names begin with an underscore.

The modules hand them on under those names. They take arrays of any kind; nothing here uses them.
"""

from __future__ import annotations

import typing as tp

import numpy as np

from chainer import variable
from chainer.backends.cuda import get_array_module

if tp.TYPE_CHECKING:
    from types import ModuleType

    from chainer._typing import AnyArray, Axis, NdArray, VariableLike


def pair(x: tp.Any) -> tp.Any:
    """A pair as it is, a number twice."""
    return x if hasattr(x, '__getitem__') else (x, x)


def log_softmax(x: AnyArray, axis: int = 1) -> AnyArray:
    """``log(exp(x) / sum(exp(x)))`` along an axis, without overflow."""
    xp = get_array_module(x)
    x = x - x.max(axis=axis, keepdims=True)
    return x - xp.log(xp.exp(x).sum(axis=axis, keepdims=True))


# Gates of recurrent networks.


def sigmoid(x: AnyArray, xp: ModuleType = np) -> AnyArray:
    """``1 / (1 + exp(-x))``, without overflow."""
    return get_array_module(x).tanh(x * 0.5) * 0.5 + 0.5


def grad_sigmoid(y: AnyArray) -> AnyArray:
    """The derivative of `sigmoid` where it is ``y``."""
    return y * (1 - y)


def grad_grad_sigmoid(y: AnyArray) -> AnyArray:
    """The second derivative of `sigmoid` where it is ``y``."""
    return y * (1 - y) * (1 - 2 * y)


def grad_tanh(y: AnyArray) -> AnyArray:
    """The derivative of ``tanh`` where it is ``y``."""
    return 1 - y * y


def grad_grad_tanh(y: AnyArray, gy: AnyArray) -> AnyArray:
    """Return the derivative of ``gy * grad_tanh`` in tanh's argument, over ``grad_tanh``."""
    return -2 * y * gy


def interleaved_gates(x: AnyArray) -> list[AnyArray]:
    """Four gates that alternate along axis 1."""
    x = x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))
    return [x[:, :, i] for i in range(4)]


def adjacent_gates(x: AnyArray, n_split: int = 5) -> list[AnyArray]:
    """Gates that follow each other along axis 1."""
    x = x.reshape((x.shape[0], n_split, x.shape[1] // n_split, *x.shape[2:]))
    return [x[:, i] for i in range(n_split)]


# Losses.


def check_class_weight_option(class_weight: VariableLike | None) -> None:
    """ValueError unless it is None or a float array with one axis."""
    if class_weight is None:
        return
    if isinstance(class_weight, variable.Variable):
        raise ValueError('class_weight is a Variable, expected an array')
    if class_weight.ndim != 1:
        raise ValueError(f'class_weight has shape {class_weight.shape}, expected one axis')
    if class_weight.dtype.kind != 'f':
        raise ValueError(f'class_weight has dtype {class_weight.dtype}, expected a float')


def check_reduce_option(reduce: str) -> None:
    """ValueError unless it is one of those of `softmax_cross_entropy`."""
    if reduce not in ('mean', 'no'):
        raise ValueError(f"reduce is {reduce!r}, expected 'mean' or 'no'")


def check_input_values(x: NdArray, t: NdArray, ignore_label: int) -> None:
    """ValueError if a label is neither that of a class nor ignored."""
    if not (((t >= 0) & (t < x.shape[1])) | (t == ignore_label)).all():
        raise ValueError(f'labels have to be in [0, {x.shape[1]}), or {ignore_label}')


def broadcast_to(array: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """Return the NumPy function of that name, for arrays of any kind."""
    return get_array_module(array).broadcast_to(array, shape)


def logsumexp(a: AnyArray, xp: ModuleType, axis: Axis | None = None) -> AnyArray:
    """``log(sum(exp(a)))``, without overflow."""
    most = a.max(axis=axis, keepdims=True)
    total = xp.log(xp.exp(a - most).sum(axis=axis, keepdims=True)) + most
    return total.reshape(()) if axis is None else xp.squeeze(total, axis=axis)
