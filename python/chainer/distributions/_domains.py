"""Domains of parameters: for each name a description and a predicate of an array."""

from __future__ import annotations

import typing as tp
from collections.abc import Callable

import chainerx
import numpy as np

from chainer import variable
from chainer._base import late_checks
from chainer.distributions._draws import to_host

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def _is_simplex(v: np.ndarray) -> np.ndarray:
    # The tolerance of numpy.random.choice.
    tolerance = np.sqrt(np.finfo(v.dtype).eps)
    return (v >= 0).all(-1) & (np.abs(v.sum(-1, dtype=np.float64) - 1) <= tolerance)


def _is_factor(v: np.ndarray) -> np.ndarray:
    diagonal = np.diagonal(v, axis1=-2, axis2=-1)
    return np.isfinite(v).all((-2, -1)) & (diagonal != 0).all(-1)


DOMAINS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    'real': ('a finite number', np.isfinite),
    'scale': ('finite and >= 0', lambda v: (v >= 0) & (v < np.inf)),
    'positive': ('finite and > 0', lambda v: (v > 0) & (v < np.inf)),
    # The limit of numpy.random.poisson.
    'count': ('from 0 to 9.22e18', lambda v: (v >= 0) & (v <= 9.22e18)),
    'probability': ('from 0 to 1', lambda v: (v >= 0) & (v <= 1)),
    'success': ('above 0, at most 1', lambda v: (v > 0) & (v <= 1)),
    'logit': ('a number', lambda v: ~np.isnan(v)),
    'simplex': ('numbers >= 0 whose sum is 1', _is_simplex),
    'factor': ('finite, without 0 in the diagonal', _is_factor),
}


def check(owner: str, name: str, x: VariableLike, domain: str) -> None:
    """Raises ValueError with the first value that is out of its domain."""
    expected, holds = DOMAINS[domain]
    v: tp.Any = variable.as_array(x)
    v = v.as_grad_stopped() if isinstance(v, chainerx.ndarray) else to_host(v)
    good = holds(v)

    def look(arrays: tuple[tp.Any, tp.Any, tp.Any]) -> None:
        is_good, good, v = arrays
        if is_good:  # where chainerx draws, one bool leaves the device
            return
        v, good = to_host(v), to_host(good)
        index = tuple(int(i) for i in np.argwhere(~good)[0])
        place = ''.join(f'[{i}]' for i in index)
        value = ' '.join(str(v[index]).split())
        raise ValueError(f'{owner}: {name}{place} is {value}, expected {expected}')

    late_checks.check(('domain', owner, name, domain), (good.all(), good, v), look)
