"""Every algorithm of sorts, forced, against NumPy; and which one is chosen."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from cases._table import np_dtype, seeded
from chainerx import testing

ALGORITHMS = chx._core.kernels.algorithms()['sort']
DTYPES = ['bool', 'int8', 'uint8', 'int16', 'uint32', 'int64', 'float16', 'float32', 'float64']
#: Rows and their length: around the ends of batches, leaves, and where counting begins.
SHAPES = [(1, 1), (3, 24), (70, 25), (9, 32), (200, 5), (2, 33), (3, 4095), (3, 4096), (1, 70000)]
PASSES = {'Sort': chx.sort, 'ArgSort': chx.argsort}


def can(algorithm, name, n, dtype):
    """Whether the algorithm sorts rows of n elements, or finds their places."""
    if algorithm == 'batched':
        return n <= (24 if name == 'Sort' and np_dtype(dtype).itemsize == 8 else 32)
    if algorithm == 'counting':
        if np_dtype(dtype).itemsize == 1:
            return name == 'Sort'
        return np_dtype(dtype).kind in 'iu' and n >= 4096
    return True


def draw(dtype, rows, n):
    """Values in a small range, which can be counted."""
    return seeded(dtype, rows, n).integers(0, 90, (rows, n)).astype(np_dtype(dtype))


def label(profile):
    return [r.name for r in profile.rows if 'Sort' in r.name]


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('algorithm', ALGORITHMS)
def test_all_compute_the_same(algorithm, dtype, shape):
    a = draw(dtype, *shape)
    x = chx.array(a)
    for name, call in PASSES.items():
        with testing.force_algorithm('sort', algorithm):
            if not can(algorithm, name, shape[1], dtype):
                with pytest.raises(ValueError, match=f"'{algorithm}', which is forced, can't"):
                    call(x)
                continue
            with chx.profile() as profile:
                actual = to_numpy(call(x))
        assert label(profile) == [f'{name}[{algorithm}]']
        expected = np.sort(a) if name == 'Sort' else np.argsort(a, kind='stable')
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize('call', PASSES.values(), ids=PASSES)
def test_rows_that_cannot_be_counted(call):
    """Quicksort takes the rows whose values are far apart, and the profile tells."""
    a = draw('int32', 2, 5000)
    a[1, ::50] = 10**9
    with testing.force_algorithm('sort', 'counting'), chx.profile() as profile:
        actual = to_numpy(call(chx.array(a)))
    np.testing.assert_array_equal(
        actual, np.sort(a) if call is chx.sort else np.argsort(a, kind='stable')
    )
    assert [name.split('[')[1] for name in label(profile)] == ['quicksort]']


@pytest.mark.parametrize(
    ('dtype', 'shape', 'expected'),
    [
        ('float32', (100, 9), 'batched'),
        ('float32', (3, 9), 'quicksort'),
        ('int32', (2, 5000), 'counting'),
        ('uint8', (2, 50), 'counting'),
        ('complex64', (100, 9), 'quicksort'),
    ],
)
def test_choice(dtype, shape, expected):
    x = chx.array(draw(dtype, *shape))
    with chx.profile() as profile:
        chx.sort(x)
    assert label(profile) == [f'Sort[{expected}]']
