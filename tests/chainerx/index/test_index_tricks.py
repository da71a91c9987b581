"""NumPy's objects with square brackets: grids, and joined arrays; and iterators."""

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, leaf
from cases._harness import to_numpy


def same(y, expected):
    """Compares all but the dtypes that chainerx chooses."""
    assert isinstance(y, chx.ndarray)
    assert y.shape == np.shape(expected)
    assert y.dtype.kind == np.asarray(expected).dtype.kind
    np.testing.assert_allclose(to_numpy(y), expected, rtol=1e-6)


@pytest.mark.parametrize('name', ['mgrid', 'ogrid'])
def test_grids(name):
    ours, theirs = getattr(chx, name), getattr(np, name)
    for key in (
        slice(4),
        slice(1, 7, 2),
        slice(0, 1, 0.25),
        slice(-1, 1, 5j),
        (slice(2), slice(3)),
        (slice(0, 1, 3j), slice(1, 4), slice(5, 0, -2)),
        (slice(2),),
        (slice(0), slice(3)),
    ):
        y, expected = ours[key], theirs[key]
        if isinstance(expected, tuple):
            assert len(y) == len(expected)
            for a, e in zip(y, expected, strict=True):
                assert a.shape == e.shape
                np.testing.assert_allclose(to_numpy(a), e, rtol=1e-6)
        else:
            same(y, expected)
    for bad in (3, (slice(2), 3), slice(None)):
        with pytest.raises(TypeError, match=name):
            ours[bad]
    assert repr(ours) == f'chainerx.{name}'


N = np.arange(1.0, 4.0)


@pytest.mark.parametrize('name', ['r_', 'c_'])
def test_joins(name):
    ours, theirs = getattr(chx, name), getattr(np, name)
    m = np.arange(6.0).reshape(3, 2) if name == 'c_' else np.arange(6.0).reshape(2, 3)
    for key in (
        (N, 0, 0, N) if name == 'r_' else (N, N),
        slice(4),
        (slice(0, 1, 5j), slice(3, 0, -1)) if name == 'r_' else (slice(3), N),
        ([1.0, 2.0, 3.0], N),
        ('0,2', N, N),
        ('1', m, m),
        ('-1', N, N),
        ('0,2,0', N, N),
        ('0,3,1', m, m),
        (m, m),
        5,
    ):
        parts = key if isinstance(key, tuple) else (key,)
        here = tuple([chx.array(x) if isinstance(x, np.ndarray) else x for x in parts])
        same(ours[here if isinstance(key, tuple) else here[0]], theirs[key])
    for bad, error in (('r', ValueError), ('a,b', ValueError), ((), ValueError), (N, TypeError)):
        with pytest.raises(error, match=name):
            ours[bad]
    assert repr(ours) == f'chainerx.{name}'


def test_ranges_of_floats_keep_their_fractions():
    assert chx.r_[0.5:3].tolist() == [0.5, 1.5, 2.5]
    assert chx.mgrid[1.5:4].tolist() == [1.5, 2.5, 3.5]
    assert chx.ogrid[1:3:0.5].tolist() == [1.0, 1.5, 2.0, 2.5]
    for ranges in (chx.r_[0.0:2], chx.mgrid[0:2.5], chx.r_[0 : np.float64(2)]):
        assert ranges.dtype == 'float32'
    assert chx.r_[0:2].dtype == 'int32'


def test_gradients_pass():
    x = leaf([1, 2])
    (chx.r_[x, 5.0, x] * chx.r_[1.0:6.0]).sum().backward()
    check(x.grad, [1 + 4, 2 + 5])


def test_iterators():
    x = chx.array([[1.5, 2.5], [3.5, 4.5]])
    expected = [(index, float(value)) for index, value in np.ndenumerate(to_numpy(x))]
    assert list(chx.ndenumerate(x)) == expected
    assert list(chx.ndenumerate(x[:0])) == []
    assert list(chx.ndenumerate(x[0, 0])) == [((), 1.5)]
    assert list(chx.ndindex(2, 1)) == [(0, 0), (1, 0)]
    assert chx.s_[1:3, ...] == np.s_[1:3, ...]
    with pytest.raises(TypeError, match='ndenumerate'):
        chx.ndenumerate(['a'])


def test_apply_over_axes():
    n = np.arange(24.0).reshape(2, 3, 4)
    x = chx.array(n)
    for axes in (0, -1, (0, 2), [1, 0], ()):
        same(chx.apply_over_axes(chx.sum, x, axes), np.apply_over_axes(np.sum, n, axes))
    same(chx.apply_over_axes(chx.cumsum, x, 1), np.apply_over_axes(np.cumsum, n, 1))
    with pytest.raises(ValueError, match='1 dimensions for 3'):
        chx.apply_over_axes(lambda a, axis: a[0, 0], x, 0)
    with pytest.raises(TypeError, match='a must be'):
        chx.apply_over_axes(chx.sum, ['a'], 0)


KINDS = 'generic number integer signedinteger unsignedinteger inexact floating complexfloating'


def test_abstract_types():
    for name in ('int8', 'uint16', 'float16', 'float64', 'complex64', 'bool'):
        for kind in KINDS.split():
            expected = np.issubdtype(name, getattr(np, kind))
            assert chx.issubdtype(name, getattr(chx, kind)) == expected, (name, kind)
    assert chx.issubdtype('bfloat16', chx.floating)
    assert not chx.issubdtype(chx.bfloat16, chx.integer)
    assert chx.issubdtype(chx.float32, 'f4')
    assert not chx.issubdtype(chx.float32, chx.float64)
    with pytest.raises(chx.DtypeError):
        chx.issubdtype('no dtype', chx.number)
    for name in ('half', 'single', 'double', 'csingle', 'cdouble', 'intp', 'uint', 'byte', 'long'):
        assert chx.zeros(1, getattr(chx, name)).dtype == np.dtype(getattr(np, name)), name


def test_common_type():
    x = {d: chx.zeros(1, d) for d in ('int8', 'float16', 'float32', 'float64', 'complex64', 'bool')}
    assert chx.common_type(x['int8']) is np.float32
    assert chx.common_type(x['float32'], x['float64']) is np.float64
    assert chx.common_type(x['float16'], x['int8']) is np.float16
    assert chx.common_type(x['float64'], x['complex64']) is np.complex128
    with pytest.raises(ValueError, match='result_type'):
        chx.common_type()
    with pytest.raises(chx.DtypeError, match='bool'):
        chx.common_type(x['bool'])
    with pytest.raises(TypeError, match='float'):
        chx.common_type(1.0)
