"""Both algorithms of reductions, forced, against NumPy; and which one is chosen."""

import itertools

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded
from chainerx import testing

ALGORITHMS = chx._core.kernels.algorithms()['reduce']
DTYPES = ['float32', 'float64', 'float16', 'int32', 'uint8', 'complex64', 'bool']
#: Around the ends of blocks, groups of rows, and pieces for threads.
SHAPES = [(2, 3), (40, 50), (1025, 3), (3, 1025), (17, 5, 33), (70000, 2), (2, 70000)]
LAYOUTS = {
    'contiguous': lambda a: chx.array(a),
    'transposed': lambda a: chx.array(a.T.copy()).T,
    'every other': lambda a: chx.array(np.repeat(a, 2, axis=-1))[..., ::2],
    'reversed': lambda a: chx.array(a[::-1].copy())[::-1],
}
CALLS = {
    'Sum': lambda xp, x, axis: xp.sum(x, axis=axis),
    'Max': lambda xp, x, axis: xp.max(x, axis=axis),
    'Any': lambda xp, x, axis: xp.any(x, axis=axis),
    'var': lambda xp, x, axis: xp.var(x, axis=axis),
}


#: Without an order, or of few values.
UNORDERED = {('Max', 'complex64'), ('var', 'complex64'), ('var', 'bool')}


def draw(dtype, shape):
    a = seeded(dtype, shape).integers(0, 2 if dtype == 'float16' else 4, shape)
    return (a + 1j * a if dtype == 'complex64' else a).astype(np_dtype(dtype))


def algorithms(profile):
    return {r.name.split('[')[1].rstrip(']') for r in profile.rows if '[' in r.name}


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_both_compute_the_same(algorithm, dtype, shape):
    a = draw(dtype, shape)
    for axis, (name, call), layout in itertools.product((0, -1), CALLS.items(), LAYOUTS.values()):
        if (name, dtype) in UNORDERED:
            continue
        x = layout(a)
        with testing.force_algorithm('reduce', algorithm), chx.profile() as profile:
            actual = call(chx, x, axis)
        assert algorithms(profile) == {algorithm}, name
        # Sums of such integers are exact, in any order, before they are rounded to float16.
        expected = call(np, a.astype('f8') if dtype == 'float16' or name == 'var' else a, axis)
        actual = to_numpy(actual)
        rtol = {'float16': 2e-3}.get(dtype, 1e-4) if name == 'var' else 0
        np.testing.assert_allclose(actual, expected.astype(actual.dtype), rtol=rtol)


def test_rows_keep_something():
    x = chx.ones((40, 50))[:, ::2]
    with testing.force_algorithm('reduce', 'rows'):
        with pytest.raises(
            ValueError, match="'rows', which is forced, can't compute the reduction"
        ):
            x.sum()
        x.sum(axis=0)


def test_choice():
    x = chx.ones((40, 50))
    for axis, expected in ((0, 'rows'), (1, 'runs')):
        with chx.profile() as profile:
            x.sum(axis=axis)
        assert [r.name for r in profile.rows] == [f'Sum[{expected}]']
