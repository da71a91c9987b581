"""Every algorithm of matrix products, forced, against sums in float64; and which one is chosen."""

import itertools

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded
from chainerx import testing

ALGORITHMS = chx._core.kernels.algorithms()['matmul']
BLAS = chx.config_info()['blas']
HAS_BLAS = BLAS['path'] != 'none'
REALS = ('float32', 'float64')
COMPLEX = ('complex64', 'complex128')
INTEGERS = ('int32', 'uint64')
#: The dtypes that an algorithm has code for. Narrower ones are computed in float32 or uint32.
DTYPES = {
    'vector': REALS,
    'outer': REALS,
    'small': REALS,
    'tiny': REALS,
    'own': ('float32',),
    'dot': REALS + COMPLEX,
    'blas': REALS + COMPLEX,
    'thin': INTEGERS,
    'plain': REALS + COMPLEX + INTEGERS,
}
#: m, k, n
SIZES = [
    *[(1, 1, 1), (2, 2, 2), (3, 1, 5), (1, 7, 9), (9, 6, 1), (1, 12, 16), (40, 1, 33), (1, 300, 1)],
    *[(8, 8, 8), (17, 18, 19), (1, 900, 70), (70, 900, 1), (33, 129, 65), (130, 70, 140)],
]
LAYOUTS = ['NN', 'NT', 'TN', 'TT']


def can(algorithm, m, k, n, layout):
    """Whether the algorithm computes the product, or None if that is up to its measured limits."""
    if algorithm == 'vector':
        return None if m == 1 or n == 1 else False
    # Columns of one element are rows at the same time.
    transposed = layout[1] == 'T' and k > 1 and n > 1
    return {
        'outer': k == 1 and not transposed,
        'small': not transposed,
        'dot': m == 1 and n == 1,
        'blas': HAS_BLAS,
    }.get(algorithm, True)


def operands(m, k, n, layout, dtype):
    rng = seeded(m, k, n, layout, dtype)

    def draw(transposed, *shape):
        a = rng.uniform(-3, 3, shape[::-1] if transposed else shape)
        if np_dtype(dtype).kind == 'c':
            a = a + 1j * rng.uniform(-3, 3, a.shape)
        a = np.abs(a).astype(dtype) if np_dtype(dtype).kind == 'u' else a.astype(dtype)
        return (a.T, chx.array(a).T) if transposed else (a, chx.array(a))

    return draw(layout[0] == 'T', m, k), draw(layout[1] == 'T', k, n)


def skip_without_blas(algorithm):
    if algorithm in ('dot', 'blas') and not HAS_BLAS:
        pytest.skip('there is no BLAS library')


def label(profile):
    return [r.name for r in profile.rows if r.name.startswith(('Matmul', 'Linear'))]


def assert_near(actual, a, b):
    """Within the rounding of each product and sum."""
    exact = a.astype('c16') @ b.astype('c16')
    actual = to_numpy(actual)
    if actual.dtype.kind in 'iu':
        np.testing.assert_array_equal(actual, exact.real.astype(actual.dtype))
        return
    bound = np.finfo(actual.dtype).eps * 4 * (np.abs(a).astype('f8') @ np.abs(b).astype('f8'))
    assert np.all(np.abs(actual - exact) <= bound)


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_all_compute_the_same(algorithm, size):
    for layout, dtype in itertools.product(LAYOUTS, REALS + COMPLEX + INTEGERS):
        (a, x), (b, y) = operands(*size, layout, dtype)
        expected = dtype in DTYPES[algorithm] and can(algorithm, *size, layout)
        with testing.force_algorithm('matmul', algorithm), chx.profile() as profile:
            try:
                actual = x @ y
            except ValueError as error:
                refused = str(error)
            else:
                refused = ''
        if refused:
            assert not expected, (layout, dtype)
            a_shape = f'{size[0]} x {size[1]}'
            assert (
                f"'{algorithm}', which is forced, can't compute the product of {a_shape}" in refused
            )
            continue
        assert expected in (True, None), (layout, dtype)
        assert label(profile) == [f'Matmul[{algorithm}]']
        assert_near(actual, a, b)


@pytest.mark.parametrize('algorithm', ['small', 'tiny', 'own', 'blas', 'plain'])
def test_batches_and_threads(algorithm):
    skip_without_blas(algorithm)
    rng = seeded(algorithm)
    a, b = (
        rng.uniform(-1, 1, (60, 9, 20)).astype('f4'),
        rng.uniform(-1, 1, (60, 20, 11)).astype('f4'),
    )
    c, d = rng.uniform(-1, 1, (300, 90)).astype('f4'), rng.uniform(-1, 1, (90, 170)).astype('f4')
    with testing.force_algorithm('matmul', algorithm), chx.profile() as profile:
        found = {}
        for n in (1, 4):
            chx.set_num_threads(n)
            found[n] = [chx.array(a) @ chx.array(b), chx.array(c) @ chx.array(d)]
    assert label(profile) == [f'Matmul[{algorithm}]']
    for one, four, x, y in zip(*found.values(), (a, c), (b, d), strict=True):
        np.testing.assert_array_equal(to_numpy(one), to_numpy(four))
        np.testing.assert_allclose(to_numpy(one), x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize('algorithm', ['small', 'own', 'blas', 'plain'])
def test_layers(algorithm):
    skip_without_blas(algorithm)
    rng = seeded(algorithm)
    x, w, b = (rng.uniform(-1, 1, s).astype('f4') for s in ((20, 30), (40, 30), 40))
    # Layers read the weights transposed, which the loops of small products can't.
    weights = chx.array(w.T.copy()).T if algorithm == 'small' else chx.array(w)
    with testing.force_algorithm('matmul', algorithm), chx.profile() as profile:
        y = chx.linear(chx.array(x), weights, chx.array(b))
    assert label(profile) == [f'Linear[{algorithm}]']
    np.testing.assert_allclose(to_numpy(y), x @ w.T + b, rtol=1e-4, atol=1e-4)


def test_empty_products_take_none():
    with testing.force_algorithm('matmul', 'dot'), chx.profile() as profile:
        y = chx.ones((2, 0)) @ chx.ones((0, 3))
    np.testing.assert_array_equal(to_numpy(y), np.zeros((2, 3)))
    assert label(profile) == ['Matmul']


def test_products_inside_of_other_kernels_are_free():
    a = chx.array(np.eye(70) * 2)
    with testing.force_algorithm('matmul', 'dot'):
        x = chx.linalg.solve(a, chx.ones((70, 70)))
    np.testing.assert_allclose(to_numpy(x), np.full((70, 70), 0.5))


CHOICES = {
    'vector': ((8, 8), (8,)),
    'outer': ((40, 1), (1, 50)),
    'small': ((8, 9), (9, 8)),
    'tiny': ((2, 2), (2, 2)),
    'dot': ((1000,), (1000, 1)),
    'blas': ((2000, 20), (20, 2)),
}


@pytest.mark.parametrize('algorithm', CHOICES)
def test_choice(algorithm):
    x, y = (chx.ones(shape, 'float32') for shape in CHOICES[algorithm])
    if BLAS['engine'] == 'own' and algorithm in ('dot', 'blas'):
        pytest.skip('our own products go first')
    skip_without_blas(algorithm)
    with chx.profile() as profile:
        x @ y
    assert label(profile) == [f'Matmul[{algorithm}]']


def test_choice_of_integers():
    small, large = chx.ones((3, 3), 'int32'), chx.ones((40, 40), 'int32')
    with chx.profile() as profile:
        small @ small
        large @ large
    assert sorted(label(profile)) == ['Matmul[plain]', 'Matmul[thin]']
