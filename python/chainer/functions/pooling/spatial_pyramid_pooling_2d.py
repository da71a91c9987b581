"""Images of any size as vectors of one length."""

from __future__ import annotations

import math
import typing as tp

from chainer import variable
from chainer.functions.array.concat import concat
from chainer.functions.array.reshape import reshape
from chainer.functions.pooling._sizes import count_spatial
from chainer.functions.pooling.max_pooling_nd import max_pooling_2d

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike


def spatial_pyramid_pooling_2d(
    x: VariableLike, pyramid_height: int, pooling: tp.Any = None
) -> variable.Variable:
    """The maxima of 1, 4, 16, ... parts of images, one after the other.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        pyramid_height (int): How many levels; each divides the images into twice as many parts
            along both axes as that before.
        pooling (str): 'max'.

    Returns:
        Variable: (N, C * (4 ** pyramid_height - 1) / 3, 1, 1). Differentiable, any order.
            Images that are narrower than the number of parts give fewer numbers.

    Raises:
        InvalidType: If ``x`` is not of a float dtype, or there is no level.
        ValueError: If ``pooling`` is something else, or ``x`` has another number of axes.

    Source: He et al., ECCV 2014.
    """
    op = 'spatial_pyramid_pooling_2d'
    if pooling != 'max':
        raise ValueError(f"{op}: pooling is {pooling!r}, expected 'max'")
    x = variable.as_variable(x)
    count_spatial(op, x, 2)
    n, _, *size = x.shape
    levels = []
    for level in range(pyramid_height):
        parts = 2**level
        # Every part has the same number of elements; zeros pad both ends of an axis that is too
        # short.
        ksize = tuple(-(-m // parts) for m in size)
        pad = tuple((k * parts - m) // 2 for k, m in zip(ksize, size, strict=True))
        pooled = max_pooling_2d(x, ksize, None, pad, True)
        levels.append(reshape(pooled, (n, math.prod(pooled.shape[1:]), 1, 1)))
    return concat(levels)
