"""The links `Linear` and `EmbedID`."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import links as L
from chainer.initializers import Constant, LeCunNormal, Normal
from chainer.utils.type_check import InvalidType
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x)


def random(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('f')


def shapes(link):
    return {path: p.shape if p.is_initialized else None for path, p in link.namedparams()}


def check(link, device, inputs, expected, rtol=1e-5):
    """Compare value, dtype and device of an output; return it."""
    link.to_device(device)
    y = link(*[device.send(x) for x in inputs])
    assert isinstance(y, chainer.Variable)
    assert y.device == device
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(to_numpy(y.array), expected, rtol=rtol, atol=1e-6)
    return y


# -- Linear


@pytest.mark.parametrize('nobias', [False, True])
@pytest.mark.parametrize('lazy', [False, True])
def test_linear(device, nobias, lazy):
    x = random(4, 3)
    link = L.Linear(None if lazy else 3, 2, nobias)
    assert shapes(link) == {'/W': None if lazy else (2, 3)} | ({} if nobias else {'/b': (2,)})
    if not nobias:
        link.b.array[...] = [1, -1]
    link.to_device(device)
    assert link(device.send(x)).shape == (4, 2)
    w = to_numpy(link.W.array)
    y = check(link, device, [x], x @ w.T + (0 if nobias else np.array([1, -1], 'f')))
    link.cleargrads()
    F.sum(y * y).backward()
    gy = 2 * to_numpy(y.array)
    np.testing.assert_allclose(to_numpy(link.W.grad), gy.T @ x, rtol=1e-4, atol=1e-5)
    assert link.W.grad.dtype == np.float32
    if nobias:
        assert link.b is None
    else:
        np.testing.assert_allclose(to_numpy(link.b.grad), gy.sum(0), rtol=1e-4, atol=1e-5)


def test_linear_keeps_axes(device):
    x = random(2, 5, 3)
    w = random(4, 3)
    check(L.Linear(3, 4, initialW=w), device, [x.reshape(2, 5, 1, 3)[:, 0, 0]], x[:, 0] @ w.T)
    link = L.Linear(3, 4, initialW=w).to_device(device)
    y = link(device.send(x), n_batch_axes=2)
    np.testing.assert_allclose(to_numpy(y.array), x @ w.T, rtol=1e-5)
    assert L.Linear(15, 4)(x).shape == (2, 4)


@pytest.mark.parametrize(('n', 'in_size'), [(1, 15), (2, 3)])
def test_lazy_size_of_linear(n, in_size):
    link = L.Linear(4)
    assert link(random(2, 5, 3), n_batch_axes=n).shape == (*(2, 5)[:n], 4)
    assert link.W.shape == (4, in_size)
    assert link.in_size is None
    assert link.out_size == 4


def test_errors_leave_a_lazy_linear_unchanged(device):
    link = L.Linear(4).to_device(device)
    for shape in ((), (3,)):
        with pytest.raises(InvalidType, match=r'x\.ndim'):
            link(device.send(random(*shape)))
    for n in (0, -1):
        with pytest.raises(ValueError, match='n_batch_axes'):
            link(device.send(random(2, 3)), n_batch_axes=n)
    assert not link.W.is_initialized
    assert link(device.send(random(2, 3, 0))).shape == (2, 4)  # no inputs, so no weights to draw
    assert link.W.shape == (4, 0)


def test_initializers_of_linear():
    link = L.Linear(3, 2)
    assert isinstance(link.W.initializer, LeCunNormal)
    np.random.seed(0)
    link = L.Linear(3, 2)
    np.random.seed(0)
    expected = np.random.normal(scale=1 / np.sqrt(3), size=(2, 3)).astype('f')
    np.testing.assert_allclose(link.W.array, expected, rtol=1e-6)
    np.testing.assert_array_equal(link.b.array, [0, 0])
    link = L.Linear(3, 2, initialW=1, initial_bias=np.array([2, 3]))
    np.testing.assert_array_equal(link.W.array, np.ones((2, 3)))
    np.testing.assert_array_equal(link.b.array, [2, 3])
    assert link.b.dtype == np.float32
    link = L.Linear(3, 2, initialW=Normal(dtype='d'), initial_bias=Constant(4))
    assert link.W.dtype == np.float64
    np.testing.assert_array_equal(link.b.array, [4, 4])
    with pytest.raises(ValueError, match=r'\(3, ?2\)'):
        L.Linear(3, 2, initialW=np.ones((3, 2)))


@pytest.mark.parametrize(
    ('dtype', 'expected'), [(np.float16, 'e'), (np.float64, 'd'), (chainer.mixed16, 'e')]
)
def test_dtype_comes_from_config(dtype, expected):
    with chainer.using_config('dtype', dtype):
        lazy = L.Linear(2)
        lazy(np.zeros((1, 3), expected))
        links = [lazy, L.Linear(3, 2), L.EmbedID(3, 2)]
    for link in links:
        assert all(param.dtype == expected for param in link.params())


def test_from_params_of_linear():
    w, b = random(2, 3), random(2)
    link = L.Linear.from_params(w, b)
    np.testing.assert_array_equal(link.W.array, w)
    np.testing.assert_array_equal(link.b.array, b)
    assert link.W.array is not w
    assert (link.in_size, link.out_size) == (3, 2)
    assert L.Linear.from_params(w, nobias=True).b is None
    np.testing.assert_array_equal(L.Linear.from_params(w).b.array, [0, 0])
    link = L.Linear.from_params(chainer.Variable(w), chainer.Variable(b))
    np.testing.assert_array_equal(link.W.array, w)
    with pytest.raises(ValueError, match='`out_size` does not match the size of `b`'):
        L.Linear.from_params(w, random(3))


def test_str_of_linear():
    assert str(L.Linear(2)) == 'Linear(in_size=None, out_size=2, nobias=False)'
    assert list(L.Linear(3, 2, nobias=True).printable_specs) == [
        ('in_size', 3), ('out_size', 2), ('nobias', True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ('x', 'message'),
    [
        (random(4, 5), r'x.shape\[1\] == W.shape\[1\]'),
        (np.zeros((4, 3), 'i'), r'dtype.kind == f'),
    ],
)
def test_bad_inputs_of_linear(device, x, message):
    link = L.Linear(3, 2).to_device(device)
    with pytest.raises(InvalidType, match=message):
        link(device.send(x))


def test_bad_batch_axes_of_linear():
    with pytest.raises(ValueError, match='n_batch_axes'):
        L.Linear(3, 2)(random(2, 3), n_batch_axes=0)


def test_bad_sizes_of_linear():
    with pytest.raises(TypeError):
        L.Linear('a', 2)
    with pytest.raises(ValueError, match='negative'):
        L.Linear(-1, 2)


# -- EmbedID


@pytest.mark.parametrize('dtype', ['i', 'l', 'b'])
@pytest.mark.parametrize('ignore_label', [None, -1, 2])
def test_embed_id(device, dtype, ignore_label):
    w = random(4, 3)
    ids = np.array([[0, 2], [3, 0]], dtype)
    if ignore_label == -1:
        ids[0, 0] = -1
    expected = w[ids]
    expected[ids == ignore_label] = 0
    link = L.EmbedID(4, 3, initialW=w, ignore_label=ignore_label)
    y = check(link, device, [ids], expected)
    link.cleargrads()
    F.sum(y).backward()
    count = np.bincount(ids[(ids != ignore_label) & (ids >= 0)], minlength=4)
    np.testing.assert_allclose(to_numpy(link.W.grad), np.tile(count[:, None], 3))


def test_initializers_of_embed_id():
    np.random.seed(0)
    link = L.EmbedID(4, 3)
    np.random.seed(0)
    np.testing.assert_array_equal(link.W.array, np.random.normal(size=(4, 3)).astype('f'))
    assert L.EmbedID(2, 2, initialW=np.ones((2, 2))).W.dtype == np.float32
    with pytest.raises(ValueError, match=r'\(3, ?3\)'):
        L.EmbedID(2, 2, initialW=np.ones((3, 3)))
    with pytest.raises(TypeError):
        L.EmbedID(None, 2)


def test_from_params_of_embed_id():
    w = random(4, 3)
    link = L.EmbedID.from_params(w, ignore_label=-1)
    np.testing.assert_array_equal(link.W.array, w)
    assert link.ignore_label == -1
    assert L.EmbedID.ignore_label is None
    with pytest.raises(ValueError, match='unpack'):
        L.EmbedID.from_params(random(4))


def test_bad_inputs_of_embed_id(device):
    link = L.EmbedID(4, 3).to_device(device)
    with pytest.raises(InvalidType, match='kind == i'):
        link(device.send(random(2)))
