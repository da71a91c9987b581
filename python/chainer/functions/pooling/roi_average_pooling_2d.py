"""Means of regions of images."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions.pooling._regions import RegionPooling, pool_regions, to_outsize, to_scale

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class ROIAveragePooling2D(RegionPooling):
    """See `roi_average_pooling_2d`."""

    compose = pool_regions('roi_average_pooling_2d', average=True)


def roi_average_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: PerAxis,
    spatial_scale: float,
) -> variable.Variable:
    """Means of regions of images, which are divided into as many parts each.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        rois (Variable or array): (R, 4), the dtype of ``x``: top, left, bottom and right of each
            region.
        roi_indices (Variable or array): (R,), int32: the images that they are of.
        outsize (int or pair of int): How many parts, down and across.
        spatial_scale (float): The factor of the numbers in ``rois``.

    Returns:
        Variable: (R, C, *outsize): the mean of pixels in each part. Differentiable in ``x``,
            any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If another argument is not positive, or no number.
        IndexError: If there is no such image.
        ValueError: If a region is not finite.

    Source: Girshick, ICCV 2015.
    """
    outh, outw = to_outsize(outsize)
    return ROIAveragePooling2D.call(
        x,
        rois,
        roi_indices,
        outh=outh,
        outw=outw,
        spatial_scale=to_scale(spatial_scale),
    )
