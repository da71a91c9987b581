"""Maxima of regions of images."""

from __future__ import annotations

import typing as tp

import chainerx

from chainer import variable
from chainer.functions._of_arrays import pair as _pair  # noqa: F401  (for libraries)
from chainer.functions.pooling._regions import (
    RegionPooling,
    align_regions,
    to_outsize,
    to_ratios,
    to_scale,
)


class ROIMaxAlign2D(RegionPooling):
    """See `roi_max_align_2d`."""

    def __init__(
        self, outsize: tp.Any, spatial_scale: float, sampling_ratio: tp.Any = None
    ) -> None:
        super().__init__(outsize, spatial_scale)
        self.sampling_ratio = to_ratios(sampling_ratio)

    @staticmethod
    def compose(
        x: chainerx.ndarray,
        rois: chainerx.ndarray,
        roi_indices: chainerx.ndarray,
        *,
        outh: int,
        outw: int,
        spatial_scale: float,
        sampling_ratio: tuple[int | None, int | None],
    ) -> chainerx.ndarray:
        size, op = (outh, outw), 'roi_max_align_2d'
        return align_regions(
            op, x, rois, roi_indices, size, spatial_scale, sampling_ratio, average=False
        )


def roi_max_align_2d(
    x: tp.Any,
    rois: tp.Any,
    roi_indices: tp.Any,
    outsize: tp.Any,
    spatial_scale: float,
    sampling_ratio: tp.Any = None,
) -> variable.Variable:
    """Maxima of regions of images, which are divided into as many parts each.

    Args:
        x (Variable or array): (N, C, H, W), a float dtype.
        rois (Variable or array): (R, 4), the dtype of ``x``: top, left, bottom and right of each
            region.
        roi_indices (Variable or array): (R,), int32: the images that they are of.
        outsize (int or pair of int): How many parts, down and across.
        spatial_scale (float): What the numbers in ``rois`` are multiplied by.
        sampling_ratio (int or pair of int): How many points are sampled in a part, down and
            across; None is about one for each pixel.

    Returns:
        Variable: (R, C, *outsize): the maximum of points between pixels in each part.
            Differentiable in ``x``, any order.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        TypeError: If another argument is not positive, or no number.
        IndexError: If there is no such image.
        ValueError: If a region is not finite.

    Source: He et al., ICCV 2017.
    """
    outh, outw = to_outsize(outsize)
    return ROIMaxAlign2D.call(
        x,
        rois,
        roi_indices,
        outh=outh,
        outw=outw,
        spatial_scale=to_scale(spatial_scale),
        sampling_ratio=to_ratios(sampling_ratio),
    )
