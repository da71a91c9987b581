"""The part of the check that has products of matrices and convolutions."""

from __future__ import annotations

import typing as tp

import numpy as np

import chainerx
from chainerx import testing
from chainerx.cuda._check_layers import outputs_and_gradients

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

Shape = tuple[int, ...]

#: Shapes of x and w, and the other arguments.
Geometry = tuple[Shape, Shape, dict[str, tp.Any]]

CONVOLUTIONS: list[Geometry] = [
    ((3, 33, 17, 21), (34, 33, 3, 3), {'pad': 1}),
    ((2, 3, 61, 53), (33, 3, 7, 7), {'stride': 2, 'pad': 3}),
    ((3, 65, 13, 17), (70, 65, 1, 1), {}),
    ((2, 34, 15, 17), (34, 2, 3, 3), {'stride': (2, 3), 'pad': 1, 'dilate': 2, 'groups': 17}),
    ((2, 35, 29, 31), (35, 1, 3, 3), {'pad': 1, 'groups': 35}),
    ((1, 300, 5, 5), (90, 300, 3, 3), {'pad': 1}),
    ((1, 8, 128, 130), (128, 8, 3, 3), {'pad': 1}),
    ((4, 17, 301), (19, 17, 5), {'dilate': 3, 'pad': 4}),
    ((2, 5, 9, 11, 13), (7, 5, 3, 2, 3), {'stride': (1, 2, 2), 'pad': (1, 0, 1)}),
    ((1, 3, 4, 5, 6, 7), (4, 3, 2, 3, 2, 3), {'pad': 1, 'stride': (1, 2, 1, 2)}),
]

#: For cuDNN: padding of both sides and of one, groups, one and three axes.
LARGE_CONVOLUTIONS: list[Geometry] = [
    ((4, 32, 17, 21), (40, 32, 3, 3), {'pad': 1}),
    ((2, 3, 61, 53), (33, 3, 7, 7), {'stride': 2, 'pad': 3}),
    ((3, 65, 13, 17), (70, 65, 1, 1), {}),
    ((2, 64, 15, 17), (64, 16, 3, 3), {'pad': ((2, 0), (0, 1)), 'dilate': 2, 'groups': 4}),
    ((4, 17, 301), (19, 17, 5), {'dilate': 3, 'pad': 4}),
    ((2, 16, 9, 11, 13), (24, 16, 3, 2, 3), {'stride': (1, 2, 2), 'pad': (1, 0, 1)}),
]

#: Shapes of matrices: single tiles, borders, few elements of long sums, batches,
#: large tiles.
PRODUCTS: list[tuple[Shape, Shape]] = [
    ((1, 1), (1, 1)),
    ((65, 17), (17, 63)),
    ((128, 784), (784, 10)),
    ((300, 200), (200, 100)),
    ((1, 70000), (70000, 1)),
    ((70, 5000), (5000, 3)),
    ((6, 9, 30), (6, 30, 8)),
    ((1500, 20), (20, 1504)),
]

#: For cuBLASLt: odd sizes, a batch, one matrix for all of a batch.
LARGE: list[tuple[Shape, Shape]] = [
    ((129, 77), (77, 131)),
    ((4, 72, 64), (4, 64, 80)),
    ((2, 3, 64, 96), (96, 48)),
]

TOLERANCES = (('float16', 2e-3), ('float32', 1e-5), ('float64', 1e-13))


def check_products(checks: Checks) -> None:
    chainerx.get_device(checks.device)  # loads the plug-in, which knows the algorithms
    with testing.force_algorithm('cuda_product', 'tiles'):
        check_own_products(checks)
    check_library_products(checks)


def check_library_products(checks: Checks) -> None:
    """Products that are large enough for cuBLASLt, where it is there."""
    random = np.random.default_rng(5)

    def draw(shape: Shape, dtype: str) -> np.ndarray:
        x = random.normal(size=(*shape, 2)).view('complex128')[..., 0]
        return (x if dtype.startswith('c') else x.real).astype(dtype)

    for dtype, tolerance in (*TOLERANCES, ('complex64', 1e-5), ('complex128', 1e-13)):
        for shapes in LARGE:
            x1, x2 = (draw(shape, dtype) for shape in shapes)
            name = f'large matmul {dtype} {shapes}'
            checks.close(name, chainerx.matmul, tolerance, x1, x2)
            checks.close(f'{name} transposed', _transposed_matmul, tolerance, x1, x2)
    for dtype, tolerance in TOLERANCES:
        x, w, b = (draw(s, dtype) for s in ((136, 90), (104, 90), (104,)))
        for name, function in (('linear', chainerx.linear), ('relu', _rectified_linear)):

            def apply(*args: tp.Any, function: tp.Any = function) -> list[tp.Any]:
                return [function(*args)]

            compute = outputs_and_gradients(apply)
            checks.close(f'large {name} {dtype}', compute, tolerance, x, w, b)


def _transposed_matmul(x1: tp.Any, x2: tp.Any) -> tp.Any:
    def copied(x: tp.Any) -> tp.Any:
        return chainerx.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)

    return chainerx.matmul(copied(x1), copied(x2))


def _rectified_linear(*args: tp.Any) -> tp.Any:
    return chainerx.relu(chainerx.linear(*args))


def check_own_products(checks: Checks) -> None:
    random = np.random.default_rng(3)
    for dtype, tolerance in TOLERANCES:
        for shapes in PRODUCTS:
            x1, x2 = (random.normal(size=s).astype(dtype) for s in shapes)
            checks.close(f'matmul {dtype} {shapes}', chainerx.matmul, tolerance, x1, x2)
        x, w, b = (random.normal(size=s).astype(dtype) for s in ((700, 20), (70, 20), (70,)))
        linear = outputs_and_gradients(lambda *args: [chainerx.linear(*args)])
        checks.close(f'linear {dtype}', linear, tolerance, x, w, b)
    rows = [random.normal(size=(100, 300)) for _ in range(2)]
    checks.close('vecdot', chainerx.vecdot, 1e-13, *rows)
    checks.close('correlate', chainerx.correlate, 1e-13, *(x[0] for x in rows))
    numbers = random.integers(0, 100, (70, 70), 'uint8')
    checks.compare('matmul uint8', chainerx.matmul, numbers, numbers.T)


def check_convolutions(checks: Checks) -> None:
    chainerx.get_device(checks.device)  # loads the plug-in, which knows the algorithms
    with testing.force_algorithm('cuda_conv', 'tiles'):
        _check_geometries(checks, 'conv', CONVOLUTIONS)
        random = np.random.default_rng(7)
        x, w = (random.integers(0, 100, s, 'int8') for s in CONVOLUTIONS[0][:2])
        checks.compare('conv int8', chainerx.conv, x, w)
    _check_geometries(checks, 'large conv', LARGE_CONVOLUTIONS)


def _check_geometries(checks: Checks, title: str, geometries: list[Geometry]) -> None:
    random = np.random.default_rng(7)
    for x_shape, w_shape, arguments in geometries:

        def conv(*arrays: tp.Any, arguments: dict[str, tp.Any] = arguments) -> list[tp.Any]:
            return [chainerx.conv(*arrays, **arguments)]

        for dtype, tolerance in TOLERANCES:
            shapes = (x_shape, w_shape, w_shape[:1])
            arrays = [random.normal(size=s).astype(dtype) for s in shapes]
            name = f'{title} {dtype} {x_shape} {w_shape}'
            checks.close(name, outputs_and_gradients(conv), tolerance, *arrays)
