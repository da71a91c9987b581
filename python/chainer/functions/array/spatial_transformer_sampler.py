"""Images sampled at the points of a grid."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.gradients import recomputed
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _sample(x: chainerx.ndarray, grid: chainerx.ndarray) -> chainerx.ndarray:
    n, channels, height, width = x.shape
    pixels = x.transpose(0, 2, 3, 1).reshape(n * height * width, channels)
    first = chainerx.arange(n, dtype='int64', device=x.device).reshape(n, 1, 1) * (height * width)
    # Where the points are, in pixels, with the last pixel's centre at 1.
    across = neighbours((grid[:, 0] + 1) * ((width - 1) / 2), width)
    down = neighbours((grid[:, 1] + 1) * ((height - 1) / 2), height)
    terms = [
        pixels.take(first + row * width + column, 0)
        * chainerx.expand_dims(row_weight * column_weight, 3)
        for row, row_weight in down
        for column, column_weight in across
    ]
    return (terms[0] + terms[1] + terms[2] + terms[3]).transpose(0, 3, 1, 2)


def neighbours(at: chainerx.ndarray, n: int) -> list[tuple[chainerx.ndarray, chainerx.ndarray]]:
    """The two pixels beside each point, and their weights, 0 outside of the image."""
    fixed = at.as_grad_stopped()
    low = chainerx.floor(fixed)
    part = at - low
    found = []
    for place, weight in ((low, 1 - part), (low + 1, part)):
        inside = (place >= 0) * (place <= n - 1)
        index = chainerx.clip(chainerx.where(inside, place, 0), 0, n - 1).astype('int64')
        found.append((index, chainerx.where(inside, weight, weight * 0)))
    return found


_sampler = recomputed('spatial_transformer_sampler', _sample)


class SpatialTransformerSampler(BuiltinFunction):
    """See `spatial_transformer_sampler`."""

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'grid'))
        x, grid = in_types
        type_check.expect(x.dtype.kind == 'f', grid.dtype == x.dtype, x.ndim == 4, grid.ndim == 4)
        type_check.expect(grid.shape[1] == 2, x.shape[0] == grid.shape[0])

    @staticmethod
    def compose(x: chainerx.ndarray, grid: chainerx.ndarray) -> chainerx.ndarray:
        if 0 in x.shape[2:] and grid.size != 0:
            raise ValueError(
                f'spatial_transformer_sampler: x has shape {x.shape}, there is nothing to sample'
            )
        return _sampler(x, grid)


def spatial_transformer_sampler(
    x: VariableLike, grid: VariableLike, **removed: object
) -> variable.Variable:
    """Images at points between pixels, by bilinear interpolation; 0 outside of them.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        grid (Variable or array): (N, 2, h, w), the same dtype: of each point its place across and
            down, from -1 at the first pixel to 1 at the last.

    Returns:
        Variable: (N, C, h, w). Differentiable in both, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If images are empty, or ``use_cudnn`` is given.
        TypeError: For other keywords.

    Source: Jaderberg et al., NIPS 2015.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed,
            use_cudnn='The argument "use_cudnn" is not supported anymore. '
            "Use chainer.using_config('use_cudnn', value)",
        )
        argument.assert_kwargs_empty(removed)
    return SpatialTransformerSampler.call(x, grid)
