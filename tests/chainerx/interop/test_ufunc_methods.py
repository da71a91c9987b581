"""Methods of NumPy's ufuncs on arrays of chainerx: NumPy's results, or an error that says why."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

# NumPy warns of NaN in logaddexp.
pytestmark = pytest.mark.filterwarnings('ignore:invalid value')

FOLDS = ('add', 'multiply', 'maximum', 'minimum', 'fmax', 'fmin', 'logaddexp')
LOGICAL = ('logical_and', 'logical_or')
SCANS = ('add', 'multiply', 'maximum', 'minimum', 'fmax', 'fmin', *LOGICAL)


def pair(device, *shape, dtype='float64'):
    rng = np.random.default_rng(0)
    n = rng.standard_normal(shape).astype(dtype)
    if n.size:
        n.flat[n.size // 2] = np.nan
    return chx.array(n, device=device), n


def same(y, expected):
    assert isinstance(y, chx.ndarray)
    expected = np.asarray(expected)
    assert (y.shape, y.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('name', FOLDS + LOGICAL)
def test_reduce(name, device):
    ufunc = getattr(np, name)
    x, n = pair(device, 3, 4, 5)
    if name in LOGICAL:
        x, n = x > 0, n > 0
    same(ufunc.reduce(x), ufunc.reduce(n))
    same(ufunc.reduce(x.T, 1), ufunc.reduce(n.T, 1))
    for axis in (0, -1, (0, 2), None):
        for keepdims in (False, True):
            options = {'axis': axis, 'keepdims': keepdims}
            same(ufunc.reduce(x, **options), ufunc.reduce(n, **options))


def test_options_of_reduce(device):
    x, n = pair(device, 3, 4)
    out = chx.zeros(4, 'float64', device=device)
    assert np.add.reduce(x, out=out) is out
    same(out, np.add.reduce(n))
    same(np.add.reduce(x, initial=2.0, where=x > 0), np.add.reduce(n, initial=2.0, where=n > 0))
    same(np.add.reduce(x, dtype='complex128'), np.add.reduce(n, dtype='complex128'))
    same(np.add.reduce(x[:0]), np.add.reduce(n[:0]))


@pytest.mark.parametrize('name', SCANS)
def test_accumulate(name, device):
    ufunc = getattr(np, name)
    for shape in ((1,), (7,), (0, 3), (4, 5, 8)):
        x, n = pair(device, *shape)
        if name in LOGICAL:
            x, n = x > -1, n > -1
        for axis in range(len(shape)):
            same(ufunc.accumulate(x, axis), ufunc.accumulate(n, axis))
    out = chx.zeros(x.shape, 'float64', device=device)
    assert ufunc.accumulate(x, out=out) is out
    np.testing.assert_allclose(to_numpy(out), ufunc.accumulate(n))
    with pytest.raises(chx.DimensionError, match='axis 3'):
        ufunc.accumulate(x, 3)


@pytest.mark.parametrize('name', FOLDS)
def test_reduceat(name, device):
    ufunc = getattr(np, name)
    x, n = pair(device, 3, 4, 5)
    for indices, axis in (([0, 2, 1], 1), ([1, 3], -1), ([2], 0), ([1, 1, 0], 0)):
        same(ufunc.reduceat(x, indices, axis), ufunc.reduceat(n, indices, axis))
        at = chx.array(indices, device=device)
        same(ufunc.reduceat(x, at, axis), ufunc.reduceat(n, indices, axis))
    same(ufunc.reduceat(x, np.array([], int)), ufunc.reduceat(n, np.array([], int)))
    out = chx.zeros((2, 4, 5), 'float64', device=device)
    assert ufunc.reduceat(x, [0, 1], out=out) is out
    with pytest.raises(IndexError, match='holds 3, expected 0 to 2'):
        ufunc.reduceat(x, [0, 3])
    with pytest.raises(TypeError, match='integer'):
        ufunc.reduceat(x, [0.5])


@pytest.mark.parametrize('name', ['add', 'hypot', 'greater', 'arctan2'])
def test_outer(name, device):
    ufunc = getattr(np, name)
    x, n = pair(device, 3, 4)
    for a, b in ((0, 1), ((), 0), (0, ()), ((), ())):
        same(ufunc.outer(x[a], x[b]), ufunc.outer(n[a], n[b]))
    same(ufunc.outer(x, 2.0), ufunc.outer(n, 2.0))
    same(ufunc.outer(2.0, x), ufunc.outer(2.0, n))
    out = chx.zeros((3, 4, 3), ufunc.outer(n, n[:, 0]).dtype, device=device)
    assert ufunc.outer(x, x[:, 0], out=out) is out
    same(out, ufunc.outer(n, n[:, 0]))


@pytest.mark.parametrize(
    'name', ['add', 'subtract', 'multiply', 'divide', 'power', 'maximum', 'minimum']
)
def test_at(name, device):
    ufunc = getattr(np, name)
    for values in (2.0, np.array([3.0, 0.5, 2.0])):
        n = np.array([1.0, 2.0, 3.0, 4.0])
        x = chx.array(n, device=device)
        view = x[:]
        ours = values if isinstance(values, float) else chx.array(values, device=device)
        assert ufunc.at(x, [0, 2, 0], ours) is None
        ufunc.at(n, [0, 2, 0], values)
        same(view, n)
    with pytest.raises(chx.ChainerxError):
        ufunc.at(x.require_grad(), [0], 1.0)


def test_gradients_pass(device):
    x = chx.array([1.0, 3.0, 2.0], device=device).require_grad()
    y = np.maximum.accumulate(x).sum() + np.add.outer(x, x).sum() + np.add.reduceat(x, [0, 1])[1]
    y.backward()
    assert x.grad.tolist() == [1 + 6, 2 + 6 + 1, 6 + 1]


@pytest.mark.parametrize(
    ('run', 'text'),
    [
        (lambda x: np.subtract.reduce(x), r'subtract\.reduce: .* but for add, multiply'),
        (lambda x: np.hypot.accumulate(x), r'hypot\.accumulate: .* but for add'),
        (lambda x: np.hypot.reduceat(x, [0]), r'hypot\.reduceat'),
        (lambda x: np.sqrt.at(x, [0]), r'sqrt\.at'),
        (lambda x: np.add.at(x, [0], np.ones(1)), 'one operand is a numpy.ndarray'),
        (lambda x: np.add.at(np.ones(1), x.astype('int32'), 1), r'a numpy\.ndarray'),
        (lambda x: np.add.at(1.0, x.astype('int32'), 1), 'a must be a chainerx.ndarray'),
        (lambda x: np.add.outer(x, np.ones(1)), 'one operand is a numpy.ndarray'),
        (lambda x: np.add.outer(x, 'a'), 'NotImplemented'),
        (lambda x: np.maximum.reduce(x, dtype='float64'), 'dtype'),
    ],
)
def test_unsupported_operations_are_type_errors(run, text):
    with pytest.raises(TypeError, match=text):
        run(chx.ones(3))
