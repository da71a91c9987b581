"""Attributes and methods of NumPy's arrays that are more than a routine with another name."""

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, filled, leaf, same


def test_methods_are_routines():
    x, n = filled(3, 4)
    same(x.diagonal(1), n.diagonal(1))
    same(x.trace(-1), np.float32(n.trace(-1)))
    same(x.conj(), n)
    assert x.conjugate().data_ptr != x.data_ptr
    same((x > 5).choose([x, x + 1]), np.where(n > 5, n + 1, n))
    same(x.compress([True, False, True], 0), n.compress([True, False, True], 0))
    for ours, theirs in zip(x.nonzero(), n.nonzero(), strict=True):
        same(ours, theirs)
    x.put([0, 5], [7, 8])
    n.put([0, 5], [7, 8])
    same(x, n)


def test_matrices_transposed():
    x, n = filled(2, 3, 4)
    same(x.mT, n.swapaxes(-1, -2))
    assert x.mT.data_ptr == x.data_ptr
    with pytest.raises(chx.DimensionError, match='mT'):
        _ = chx.zeros(3).mT


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_parts_of_complex_numbers(dtype):
    n = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(dtype).reshape(2, 3)
    x = chx.array(n)
    same(x.real, n.real)
    same(x.imag, n.imag)
    x.real = [1, 2, 3]
    x.imag = x.real
    n.real = [1, 2, 3]
    n.imag = n.real
    same(x, n)
    x.T.imag[0] = 9
    assert (chx.to_numpy(x).imag[:, 0] == 9).all()
    y = x.copy().require_grad()
    for name in ('real', 'imag'):
        with pytest.raises(chx.ChainerxError, match='graph'):
            setattr(y, name, 1)
        with pytest.raises(chx.DtypeError, match=name):
            setattr(x, name, 1j)


def test_parts_of_real_numbers():
    x, n = filled(2, 3)
    assert x.real.data_ptr == x.data_ptr
    same(x.imag, np.zeros((2, 3), 'float32'))
    x.real = n + 1
    same(x, n + 1)
    with pytest.raises(TypeError, match='imag'):
        x.imag = 1
    y = leaf([1, 2])
    y.real.backward()
    check(y.grad, [1, 1])


@pytest.mark.parametrize('dtype', ['bool', 'int16', 'float32', 'complex128', 'bfloat16'])
def test_bytes(dtype):
    x = chx.arange(6).reshape(2, 3).astype(dtype)
    n = chx.to_numpy(x)
    for ours, theirs in ((x, n), (x.T, n.T), (x[:, ::-2], n[:, ::-2]), (x[:0], n[:0])):
        assert ours.tobytes() == theirs.tobytes()
        assert ours.tobytes('F') == theirs.tobytes('F')
    with pytest.raises(ValueError, match='order'):
        x.tobytes('K')


def test_array_api_namespace():
    x = chx.zeros(2)
    assert x.__array_namespace__() is chx
    assert x.__array_namespace__(api_version='2023.12') is chx
    with pytest.raises(ValueError, match='1999'):
        x.__array_namespace__(api_version='1999.12')
    info = chx.__array_namespace_info__()
    assert info.default_device() is chx.get_default_device()
    assert info.default_device() in info.devices()
    defaults = info.default_dtypes()
    assert defaults['real floating'] == chx.zeros(1).dtype
    assert defaults['integral'] == chx.arange(1).dtype
    assert defaults['indexing'] == chx.argmax(x).dtype
    assert [*info.dtypes(kind='real floating')] == ['float32', 'float64']
    assert len(info.dtypes()) == 13
    shape = (1,) * info.capabilities()['max dimensions']
    assert chx.zeros(shape).ndim == 10
    with pytest.raises(chx.DimensionError):
        chx.zeros((1, *shape))


def test_atleast_of_several_arrays():
    x, y = chx.zeros(3), chx.zeros(())
    for ours, theirs in (
        (chx.atleast_1d, np.atleast_1d),
        (chx.atleast_2d, np.atleast_2d),
        (chx.atleast_3d, np.atleast_3d),
    ):
        several = ours(x, y)
        assert type(several) is tuple
        for a, b in zip(several, theirs(np.zeros(3, 'f4'), np.zeros((), 'f4')), strict=True):
            same(a, b)
        assert ours() == ()
        with pytest.raises(TypeError, match='atleast'):
            ours(x, [1])
