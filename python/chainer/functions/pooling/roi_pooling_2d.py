"""Maxima of regions of images, as they were first defined."""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import variable
from chainer._graph.builtin import BuiltinFunction
from chainer.functions.pooling._regions import for_regions, pool_bins, to_outsize, to_scale
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import InTypes, VariableLike


class ROIPooling2D(BuiltinFunction):
    """See `roi_pooling_2d`."""

    check_uses_attributes = False

    def _prepare(self) -> None:
        to_outsize((self.outh, self.outw))
        to_scale(self.spatial_scale)

    def check_type_forward(self, in_types: InTypes) -> None:
        type_check._argname(in_types, ('x', 'rois'))
        x, rois = in_types
        type_check.expect(x.dtype.kind == 'f', x.ndim == 4, rois.dtype == x.dtype, rois.ndim == 2)
        type_check.expect(rois.shape[1] == 5)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        rois: chainerx.ndarray,
        *,
        outh: int,
        outw: int,
        spatial_scale: float,
    ) -> chainerx.ndarray:
        def pool(image: chainerx.ndarray, region: list[float]) -> chainerx.ndarray:
            left, top, right, bottom = (round(v) for v in region)
            # The last row and column belong to the region.
            spans = (top, max(bottom, top) + 1), (left, max(right, left) + 1)
            return pool_bins(image, spans, (outh, outw), False, 0.0)

        images = rois[:, 0].as_grad_stopped()
        if not np.isfinite(chainerx.to_numpy(images)).all():
            raise ValueError('roi_pooling_2d: rois[:, 0] has numbers that are not finite')
        return for_regions(
            'roi_pooling_2d', x, rois[:, 1:], images, spatial_scale, (outh, outw), pool
        )


def roi_pooling_2d(
    x: VariableLike, rois: VariableLike, outh: int, outw: int, spatial_scale: float
) -> variable.Variable:
    """Maxima of regions of images, which are divided into as many parts each.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        rois (Variable or array): (R, 5), the dtype of ``x``: the number of the image, and left,
            top, right and bottom of each region, last pixels included.
        outh (int): How many parts, down.
        outw (int): How many parts, across.
        spatial_scale (float): The factor of the numbers in ``rois``.

    Returns:
        Variable: (R, C, outh, outw), 0 for parts outside of the image. Differentiable in ``x``,
            any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If another argument is not positive, or no number.
        IndexError: If there is no such image.
        ValueError: If a region is not finite.

    Source: Girshick, ICCV 2015.
    """
    to_outsize((outh, outw))
    to_scale(spatial_scale)
    return ROIPooling2D.call(x, rois, outh=outh, outw=outw, spatial_scale=spatial_scale)
