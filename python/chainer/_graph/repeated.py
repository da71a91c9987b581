"""What functions that are called again find and leave alone: state such as running statistics.

`F.forget` and transforms of `chainerx.func` call a function again for its derivatives. What it
wrote besides its results at the first call is not written again, and what it read before is read
as it was.
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
    """What an array is; in a function that is called again, what it was at the first call.

    CuPy's are what they are.
    """
    if isinstance(array, cuda.ndarray):
        return array
    kind = tp.cast(str, engine.kind(array))
    return engine.to_kind(functional.as_at_first(engine.side(array)), kind)
