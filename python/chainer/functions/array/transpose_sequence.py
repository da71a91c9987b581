"""Sequences by time."""

from __future__ import annotations

import itertools
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import variable
from chainer._base.constants import constant
from chainer._graph.builtin import BuiltinFunction
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _fit(xs: tp.Sequence[VariableLike]) -> bool:
    """Checks types without texts, because there may be hundreds of sequences."""
    shapes = [x.shape for x in xs]
    dtype = xs[0].dtype
    return (
        all(a[:1] >= b[:1] and a[1:] == b[1:] for a, b in itertools.pairwise(shapes))
        and () not in shapes
        and all(x.dtype == dtype for x in xs)
    )


def _places(lengths: tuple[int, ...]) -> np.ndarray:
    """Where the elements of sequences that follow each other are, by time."""
    n = np.array(lengths)
    times = np.arange(lengths[0])[:, None]
    return (np.cumsum(n) - n + times)[times < n]


def _take(x: chainerx.ndarray, indices: np.ndarray) -> chainerx.ndarray:
    return chainerx.take(x, constant(indices, x.device), 0)


def _to_times(x: chainerx.ndarray, lengths: tuple[int, ...]) -> chainerx.ndarray:
    return _take(x, _places(lengths))


def _gradient(
    gy: chainerx.ndarray, needed: tuple[bool, ...], inputs: None, y: None, lengths: tuple[int, ...]
) -> tuple[chainerx.ndarray, ...]:
    places = _places(lengths)
    back = np.empty_like(places)
    back[places] = np.arange(len(places))
    return (_take(gy, back),)


# Keeps no indices.
_by_time = engine.WithGradient('transpose_sequence', _to_times, _gradient, n_params=1, keeps='')


class TransposeSequence(BuiltinFunction):
    """See `transpose_sequence`; ``length`` is without effect."""

    def __init__(self, length: object) -> None:
        self.length = length

    def check_type_forward(self, in_types: InTypes) -> None:
        if isinstance(in_types, type_check.LightTypeInfoTuple) and _fit(in_types):
            return
        for i in range(1, type_check.eval(in_types.size())):
            previous, x = in_types[i - 1], in_types[i]
            type_check.expect(
                previous.shape[0] >= x.shape[0],
                previous.shape[1:] == x.shape[1:],
            )
            kinds = [type_check.eval(a.dtype.kind) for a in (previous, x)]
            if kinds != ['f', 'f']:
                type_check.expect(previous.dtype == x.dtype)

    @staticmethod
    def compose(*xs: chainerx.ndarray) -> tuple[chainerx.ndarray, ...]:
        lengths = tuple(map(len, xs))
        if not lengths[0]:
            return ()
        x = xs[0] if len(xs) == 1 else chainerx.concatenate(xs, 0).astype(xs[0].dtype, copy=False)
        if len(xs) > 1 and lengths[0] > 1:
            x = _by_time(x, lengths)
        counts = (np.arange(lengths[0])[:, None] < np.array(lengths)).sum(1)
        return tuple(chainerx.split(x, np.cumsum(counts)[:-1].tolist(), 0))


def transpose_sequence(xs: tp.Sequence[VariableLike]) -> tuple[variable.Variable, ...]:
    """For each time the elements of all sequences that are long enough.

    Args:
        xs (sequence of Variable or array): Of one dtype or of floats, of falling length; the same
            shapes, but for the length of the first axis.

    Returns:
        tuple of Variable: As many as the first is long, each of the shape (sequences that are
        long enough, ...), in the dtype of the first. Differentiable in all of them, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or lengths rise.
    """
    if not len(xs):
        return ()
    ys = TransposeSequence.call(*xs)
    return ys
