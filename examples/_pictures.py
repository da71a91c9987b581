"""Pictures for cifar_resnet.py: ten shapes at any position, in any two colors, with noise."""

import numpy as np


def inside(u, v, size=1):
    return np.maximum(abs(u), abs(v)) < size


SHAPES = [  # functions of coordinates, which are from -1 to 1 inside a square
    lambda u, v: np.hypot(u, v) < 1,
    lambda u, v: abs(np.hypot(u, v) - 0.75) < 0.25,
    lambda u, v: inside(u, v, 0.9),
    lambda u, v: inside(u, v, 0.9) & ~inside(u, v, 0.5),
    lambda u, v: abs(u) + abs(v) < 1.1,
    lambda u, v: (np.minimum(abs(u), abs(v)) < 0.3) & inside(u, v),
    lambda u, v: (abs(abs(u) - abs(v)) < 0.35) & inside(u, v),
    lambda u, v: (np.sin(8 * u) > 0) & inside(u, v),
    lambda u, v: (np.sin(8 * v) > 0) & inside(u, v),
    lambda u, v: (np.sin(6 * u) * np.sin(6 * v) > 0) & inside(u, v),
]


def draw(n, rng):
    """Returns pictures (n, 3, 32, 32) and their labels."""
    t = rng.randint(0, len(SHAPES), n).astype(np.int32)
    place = rng.uniform(12, 20, (n, 2, 1, 1))
    size = rng.uniform(7, 11, (n, 1, 1))
    y, x = np.mgrid[:32, :32]
    u, v = (x - place[:, 0]) / size, (y - place[:, 1]) / size
    masks = np.stack([SHAPES[k](a, b) for k, a, b in zip(t, u, v, strict=True)])
    front, back = rng.uniform(-1, 1, (2, n, 3, 1, 1))
    back = np.where(abs(front - back).sum(1, keepdims=True) < 1, -front, back)
    pictures = np.where(masks[:, None], front, back) + rng.normal(0, 0.2, (n, 3, 32, 32))
    return pictures.astype(np.float32), t
