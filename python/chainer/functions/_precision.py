"""In which precision sums of half precision are taken."""

from __future__ import annotations

import chainerx


def widened(x: chainerx.ndarray) -> chainerx.ndarray:
    """float16 and bfloat16 as float32, whose range and digits hold sums and squares; others as is.

    Args:
        x (chainerx.ndarray): Any shape, a float dtype.
    """
    return x.astype('float32') if x.dtype.itemsize == 2 else x


def narrowed(y: chainerx.ndarray, like: chainerx.ndarray) -> chainerx.ndarray:
    """A result of `widened` in the dtype of the operand that it was.

    Args:
        y (chainerx.ndarray): Any shape.
        like (chainerx.ndarray): The operand.
    """
    return y.astype(like.dtype) if like.dtype.itemsize == 2 else y
