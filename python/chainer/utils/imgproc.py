"""Crops of images."""

from __future__ import annotations

import typing as tp

import numpy as np


def oversample(images: tp.Sequence[np.ndarray], crop_dims: tuple[int, int]) -> np.ndarray:
    """Crops the four corners and the center of images, and mirrors each crop.

    Args:
        images: Images of one shape (C, H, W).
        crop_dims: Height and width of a crop.

    Returns:
        Array of shape (10 * len(images), C, height, width): per image the corners (upper left,
        upper right, lower left, lower right) and the center, then the same mirrored.
    """
    _, h, w = images[0].shape
    ch, cw = map(int, crop_dims)
    if ch > h or cw > w:
        raise ValueError(f'oversample: crops of {(ch, cw)} do not fit into images of {(h, w)}')
    corners = [(y, x) for y in (0, h - ch) for x in (0, w - cw)]
    # v7 rounded down where the center lies between two pixels.
    places = [*corners, (int((h - ch) / 2), int((w - cw) / 2))]
    crops = []
    for image in images:
        cut = [image[:, y : y + ch, x : x + cw] for y, x in places]
        crops += cut + [crop[:, :, ::-1] for crop in cut]
    return np.stack(crops)
