"""In which precision sums of half precision are taken."""

from __future__ import annotations

import chainerx


def widened(x: chainerx.ndarray) -> chainerx.ndarray:
    """float16 and bfloat16 as float32, whose range and digits hold sums and squares; others as is.

    Args:
        x (chainerx.ndarray): Any shape, a float dtype.
    """
    return x.astype('float32') if x.dtype.itemsize == 2 else x


def narrowed(y: chainerx.ndarray, *operands: chainerx.ndarray) -> chainerx.ndarray:
    """Casts a result of `widened` operands back to the dtype that the operands promote to.

    Args:
        y (chainerx.ndarray): Any shape.
        operands (chainerx.ndarray): One or more, of float dtypes.
    """
    for x in operands:  # a generator would cost more than the rest of a small loss
        if x.dtype.itemsize != 2:
            return y
    return y.astype(chainerx.result_type(*operands))
