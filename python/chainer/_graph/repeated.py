"""State, such as running statistics, of functions that are called again.

`F.forget` and transforms of `chainerx.func` call a function again for its derivatives. The second
call does not repeat side effects of the first one, and it reads the state that the first one read.
"""

from __future__ import annotations

import typing as tp

from chainerx._core import engine, functional

from chainer.backends import cuda
from chainer.configuration import config

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray


def is_repeated() -> bool:
    """Whether this is a call for derivatives, of a function that has been called."""
    return config.in_recomputing or functional.is_repeated()


def moves(array: NdArray) -> bool:
    """Whether a function is to move an array: not if it is called again, and did so before."""
    if isinstance(array, cuda.ndarray):
        return not is_repeated()
    return functional.moves(engine.side(array))


def as_at_first(array: NdArray) -> tp.Any:
    """Return the array; in a repeated call, return its values at the first call.

    CuPy's arrays are returned unchanged.
    """
    if isinstance(array, cuda.ndarray):
        return array
    kind = tp.cast(str, engine.kind(array))
    return engine.to_kind(functional.as_at_first(engine.side(array)), kind)
