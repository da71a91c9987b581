"""Where an affine map takes the pixels of an image."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import routine
from chainer._graph.gradients import recomputed
from chainer.utils import argument, type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


def _compute(theta: chainerx.ndarray, output_shape: tuple[int, int]) -> chainerx.ndarray:
    height, width = output_shape
    dtype, device = theta.dtype, theta.device
    ys = chainerx.linspace(-1, 1, height, dtype=dtype, device=device).reshape(height, 1)
    xs = chainerx.linspace(-1, 1, width, dtype=dtype, device=device)
    theta = theta.reshape(-1, 2, 3, 1, 1)
    return theta[:, :, 0] * xs + theta[:, :, 1] * ys + theta[:, :, 2]


class SpatialTransformerGrid(BuiltinFunction):
    """See `spatial_transformer_grid`."""

    is_called = True
    check_uses_attributes = False

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('theta',))
        (theta,) = in_types
        type_check.expect(theta.dtype.kind == 'f', theta.ndim == 3)
        type_check.expect(theta.shape[1] == 2, theta.shape[2] == 3)

    compose = routine(
        recomputed('spatial_transformer_grid', _compute, n_params=1), output_shape=...
    )


def spatial_transformer_grid(
    theta: VariableLike, output_shape: tp.Sequence[int], **removed: object
) -> variable.Variable:
    """The points of a regular grid, mapped by ``theta``; for `spatial_transformer_sampler`.

    The grid covers -1 to 1 in both directions.

    Args:
        theta (Variable or array): (N, 2, 3), a float dtype: matrices that take ``(x, y, 1)`` to
            ``(x, y)``.
        output_shape (tuple of int): Height and width of the grid.

    Returns:
        Variable: (N, 2, height, width); the first channel is ``x``. Differentiable, any order.

    Raises:
        InvalidType: If ``theta`` is no such array.
        ValueError: If ``output_shape`` is no pair.
        TypeError: For an unknown keyword.

    Source: Jaderberg et al., NIPS 2015.
    """
    if removed:
        argument.check_unexpected_kwargs(
            removed,
            use_cudnn='The argument "use_cudnn" is not supported anymore. Use '
            "chainer.using_config('use_cudnn', value) context where value can be `always`, "
            '`never`, or `auto`.',
        )
        argument.assert_kwargs_empty(removed)
    shape = tuple(output_shape)
    if len(shape) != 2:
        raise ValueError(
            f'spatial_transformer_grid: output_shape is {shape}, expected height and width'
        )
    return SpatialTransformerGrid.call(theta, output_shape=shape)
