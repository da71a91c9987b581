"""Maxima of regions of images."""

from __future__ import annotations

import typing as tp

from chainer import variable
from chainer._base.docstrings import documented_like
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions.pooling._regions import RegionPooling, pool_regions, to_outsize, to_scale
from chainer.functions.pooling.roi_average_pooling_2d import roi_average_pooling_2d

if tp.TYPE_CHECKING:
    from chainer._typing import PerAxis, VariableLike


class ROIMaxPooling2D(RegionPooling):
    """See `roi_max_pooling_2d`."""

    compose = pool_regions('roi_max_pooling_2d', average=False)


@documented_like(roi_average_pooling_2d)
def roi_max_pooling_2d(
    x: VariableLike,
    rois: VariableLike,
    roi_indices: VariableLike,
    outsize: PerAxis | None,
    spatial_scale: float,
) -> variable.Variable:
    """Maxima of regions of images, which are divided into as many parts each.

    Returns:
        Variable: (R, C, *outsize): the maximum of pixels in each part. Differentiable in ``x``,
            any order.
    """
    outh, outw = to_outsize(outsize)
    return ROIMaxPooling2D.call(
        x,
        rois,
        roi_indices,
        outh=outh,
        outw=outw,
        spatial_scale=to_scale(spatial_scale),
    )
