"""A row of the table of links: its construction, its arguments, and its result by NumPy.

Chainer v7 runs the rows, too (`data/make_v7_links.py`), so they use only what both have.
"""

import dataclasses
import typing as tp
import zlib
from collections.abc import Callable

import chainer
import chainer.links as L
import numpy as np
from chainer.utils.type_check import InvalidType
from functions.cases._table import c, call, f, own

__all__ = ['InvalidType', 'L', 'Row', 'c', 'call', 'f', 'own', 'steps']


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    key: str  # the name in chainer.links; anything after a '_' tells rows of one link apart
    make: Callable  # of the link; dtypes come from chainer.config
    inputs: tp.Any  # call(...): the arguments of the link
    ref: Callable | None  # (values of the link by path, *inputs) in float64
    run: Callable = lambda link, *args, **kw: link(*args, **kw)
    train: bool = True  # the mode (training or test) of `ref`
    random: bool = False  # draws random numbers in training, which v7 takes from NumPy
    order: int = 2  # the order of derivatives that exist
    tol: float = 8.0  # factor on the tolerance of the dtype
    gtol: float = 8.0
    bad: tuple = ()  # (call or a function of nothing, exception, text)

    @property
    def name(self):
        return self.key.partition('_')[0]

    def __repr__(self):
        return self.key


def steps(link, *xs):
    """Successive calls of a link with state."""
    return [link(x) for x in xs]


def values_of(link):
    """Parameters and persistent values by path, without the first slash."""
    found = {path[1:]: p.array for path, p in link.namedparams() if p.array is not None}
    for path, child in link.namedlinks():
        for name in child._persistent:
            found[f'{path}/{name}'[1:] if path != '/' else name] = getattr(child, name)
    return found


def fill(link, key):
    """Fills every value with random-looking bits that depend on its path alone."""
    for path, value in values_of(link).items():
        if not isinstance(value, np.ndarray) or value.dtype.kind != 'f':
            continue
        rng = np.random.RandomState(zlib.crc32(f'{key}/{path}'.encode()))
        drawn = rng.uniform(-1, 1, value.shape)
        # Variances are positive.
        value[...] = np.abs(drawn) + 0.5 if path.endswith('avg_var') else drawn
    for child in link.links():
        if 'N' in child._persistent:
            child.N = 3
    return link


def make(row, dtype='float32'):
    """The link of a row, filled; uninitialized parameters of lazy links get their shapes."""
    with chainer.using_config('dtype', np.dtype(dtype)):
        link = row.make()
        if any(p.array is None for p in link.params()):
            run(row, link, draw(row, dtype))
    return fill(link, row.key)


def draw(row, dtype='float32', convert=lambda x: x, inputs=None):
    """The call of a row, or another of its link, with arrays."""
    rng = np.random.RandomState(zlib.crc32(row.key.encode()))
    return (inputs or row.inputs).map(lambda arg: convert(arg.draw(rng, dtype)))


def run(row, link, arguments):
    """Return all results of the link in one list."""
    if hasattr(link, 'reset_state'):
        link.reset_state()
    return _flat(row.run(link, *arguments.args, **arguments.kw))


def _flat(ys):
    return [y for part in ys for y in _flat(part)] if isinstance(ys, (tuple, list)) else [ys]
