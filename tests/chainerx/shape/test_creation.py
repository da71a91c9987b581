"""New arrays with the values of others: full and related routines."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func

VALUES = [(), (3,), (2, 1), (2, 3), (1, 1)]


def value_of(shape, dtype='float64'):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize('dtype', [None, 'float32', 'int64', 'bool'])
@pytest.mark.parametrize('shape', VALUES)
def test_full_of_an_array(shape, dtype):
    n = value_of(shape)
    y = chx.full((2, 3), chx.array(n), dtype)
    expected = np.full((2, 3), n, dtype)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(to_numpy(y), expected)
    assert y.strides == expected.strides
    y.fill(0)  # its own memory, with no shared elements
    z = chx.full_like(chx.ones((2, 3), 'float16'), chx.array(n), dtype=dtype)
    expected = np.full_like(np.ones((2, 3), 'float16'), n, dtype=dtype)
    assert z.dtype == expected.dtype
    np.testing.assert_array_equal(to_numpy(z), expected)


def test_full_is_differentiable_in_the_value():
    x, seed = chx.array([2.0, 3.0, 4.0]), chx.arange(6, dtype='float64').reshape(2, 3)
    for f in (
        lambda x: chx.sum(chx.full((2, 3), x) ** 3 * seed),
        lambda x: chx.sum(chx.full_like(seed, x) ** 3 * seed),
    ):
        weights = to_numpy(seed).sum(0)
        assert func.grad(f)(x).tolist() == (3 * to_numpy(x) ** 2 * weights).tolist()
        assert func.hessian(f)(x).tolist() == np.diag(6 * to_numpy(x) * weights).tolist()


def test_full_of_batches():
    v = chx.arange(4.0)
    assert func.vmap(lambda v: chx.full(2, v))(v).tolist() == [[i, i] for i in range(4)]
    for f in (
        lambda v: chx.full_like(chx.ones((2, 3)), v),
        lambda v: chx.full_like(chx.ones(5) * v, v, shape=(2, 3)),
        lambda v: chx.full_like(chx.ones((2, 3)), chx.stack([v, v, v])),
    ):
        found = to_numpy(func.vmap(f)(v))
        np.testing.assert_array_equal(found, np.stack([np.full((2, 3), i) for i in range(4)]))
    assert func.vmap(lambda v: chx.full_like(v, 3))(v).tolist() == [3] * 4


def test_devices_of_full():
    x = chx.array(2.0, device='native:1')
    assert chx.full(3, x).device.name == 'native:1'
    assert chx.full(3, x, device='native:0').device.name == 'native:0'
    assert chx.full(3, x, chx.get_device('native:0')).tolist() == [2] * 3
    with pytest.raises(chx.DimensionError, match='full'):
        chx.full((2, 3), chx.ones(2))


def test_fill_with_an_element():
    x = chx.zeros((2, 2), 'float32')
    x[:, 0].fill(chx.array(1.5, 'float64'))
    assert x.tolist() == [[1.5, 0], [1.5, 0]]
    with pytest.raises(TypeError, match=r'fill: value must be a number, got chainerx\.ndarray'):
        x.fill(chx.ones(1))
    with pytest.raises(chx.DtypeError, match='fill: cannot write float32 into an array of int64'):
        chx.zeros(2, 'int64').fill(chx.array(1.5, 'float32'))
    with pytest.raises(chx.ChainerxError, match='requires backprop'):
        x.fill(chx.array(1.0, 'float32').require_grad())


def test_complex_numbers_do_not_lose_a_part():
    x = chx.zeros(2, 'float32')
    for call in (
        lambda: x.fill(1j),
        lambda: chx.full(2, 1j, dtype='float64'),
        lambda: chx.full_like(x, 1j),
    ):
        with pytest.raises(chx.DtypeError, match=r'(fill|full): cannot write .*j.* of float'):
            call()
    assert chx.full(2, 1j, dtype='complex64').tolist() == [1j, 1j]
    assert chx.full(2, 1.5, dtype='int32').tolist() == [1, 1]


def test_sizes_of_buffers_are_value_errors():
    for keywords in ({'offset': 9}, {'count': 3}, {'dtype': 'float64', 'offset': 1}):
        with pytest.raises(chx.DimensionError, match='frombuffer'):
            chx.frombuffer(bytes(8), **{'dtype': 'float32'} | keywords)


@pytest.mark.parametrize('function', ['linspace', 'logspace', 'geomspace'])
def test_ends_that_are_arrays_stay_on_their_device(function):
    x = chx.array([1.0, 2.0], device='native:1')
    f = getattr(chx, function)
    assert f(x, 4.0, 3, device='native:1').device.name == 'native:1'
    assert f(2.0, x, 3).device.name == 'native:1'
    with pytest.raises(chx.DeviceError, match=function):
        f(x, x + 1, 3, device='native:0')
    with pytest.raises(chx.BackendError):
        f(x, x + 1, 3, device='bogus')


@pytest.mark.parametrize('name', ['concatenate', 'stack', 'hstack', 'vstack'])
def test_the_rows_of_an_array_are_joined(name):
    n = np.arange(12.0).reshape(2, 3, 2)
    join = getattr(chx, name)
    np.testing.assert_array_equal(to_numpy(join(chx.array(n))), getattr(np, name)(n))
    g = func.grad(lambda x: chx.sum(join(x) ** 2))(chx.array(n))
    np.testing.assert_array_equal(to_numpy(g), 2 * n)
    batch = func.vmap(join)(chx.array(np.stack([n, n + 1])))
    expected = np.stack([getattr(np, name)(m) for m in (n, n + 1)])
    np.testing.assert_array_equal(to_numpy(batch), expected)
    with pytest.raises(TypeError, match='arrays must be a list or tuple'):
        join(chx.array(1.0))


@pytest.mark.parametrize('dtype', ['bool', 'float16', 'float32', 'float64', 'complex128'])
@pytest.mark.parametrize('shape', [(5, 1, 1), (3, 4, 4), (2, 3, 40), (130, 128), (3, 129)])
def test_triangles_of_rows_of_any_length(dtype, shape):
    n = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)
    wide = np.repeat(n, 2, axis=-1)
    for k in (-200, -3, -1, 0, 1, 2, 100, 200):
        for name in ('tril', 'triu'):
            expected = getattr(np, name)(n, k)
            f = getattr(chx, name)
            for x in (
                chx.array(n),
                chx.array(wide)[..., ::2],
                chx.array(n[..., ::-1].copy())[..., ::-1],
                chx.array(n.swapaxes(-1, -2).copy()).swapaxes(-1, -2),
            ):
                np.testing.assert_array_equal(to_numpy(f(x, k)), expected)
