"""Attention over time: caches, masks, dropout, and properties beyond the table."""

from __future__ import annotations

import re

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import Variable, gradient_check, serializers
from chainer.functions.connection.linear import _rectified_linear
from chainer.links.attention.transformer_encoder import FeedForward
from chainer.utils.type_check import InvalidType
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


@pytest.fixture(autouse=True)
def seed():
    np.random.seed(0)


def random(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype('f')


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x.array if isinstance(x, Variable) else x)


def same(actual, expected):
    np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), 1e-5, 1e-5)


def in_parts(link, x, ends, cache, masks=None):
    """The outputs of successive calls with parts of a sequence."""
    begins = [0, *ends[:-1]]
    return F.concat(
        [
            link(x[:, a:b], mask=None if masks is None else masks(a, b), causal=True, cache=cache)
            for a, b in zip(begins, ends, strict=True)
        ],
        axis=1,
    )


ENCODERS = {
    'plain': {},
    'pre_norm': {'pre_norm': True, 'rotary': True, 'n_kv_heads': 1},
    'rms': {'norm': 'rms', 'activation': 'mish', 'nobias': True},
}


@pytest.mark.parametrize('kind', ENCODERS)
@pytest.mark.parametrize('ends', [[5], [1, 2, 3, 4, 5], [2, 5], [0, 3, 4, 5]])
def test_cache_continues(device, kind, ends):
    link = L.TransformerEncoder(2, 8, 2, 6, 0.0, **ENCODERS[kind]).to_device(device)
    x = device.send(random(2, 5, 8))
    cache = link.make_cache()
    same(in_parts(link, x, ends, cache), link(x, causal=True))
    assert [len(c) for c in cache] == [5, 5]


@pytest.mark.parametrize('as_float', [False, True])
@pytest.mark.parametrize('axes', [2, 3, 4])
def test_mask_beside_a_cache(device, as_float, axes):
    link = L.MultiHeadAttention(2, 8, rotary=True).to_device(device)
    x = device.send(random(2, 5, 8))
    mask = np.random.RandomState(1).rand(*{2: (), 3: (2,), 4: (2, 2)}[axes], 5, 5) < 0.7
    mask |= np.eye(5, dtype=bool)  # each attends to itself

    def part(a, b):
        m = mask[..., a:b, :b]
        return device.send(np.where(m, 0, -np.inf).astype('f') if as_float else m)

    expected = link(x, mask=device.send(mask), causal=True)
    same(in_parts(link, x, [2, 3, 5], link.make_cache(), part), expected)
    variables = in_parts(
        link, Variable(x), [2, 5], link.make_cache(), lambda a, b: Variable(part(a, b))
    )
    same(variables, expected)


def test_gradients_go_through_a_cache(device):
    link = L.MultiHeadAttention(2, 4).to_device(device)
    grads = []
    for ends in ([3], [1, 3]):
        x = Variable(device.send(random(2, 3, 4)))
        y = in_parts(link, x, ends, link.make_cache())
        link.cleargrads()
        F.sum(y * y).backward()
        grads.append([x.grad, link.W_in.grad])
    for a, b in zip(*grads, strict=True):
        same(a, b)


def test_an_error_leaves_caches_as_they_were():
    link = L.TransformerEncoder(2, 4, 2, dropout=0.0)
    x, cache = random(2, 3, 4), link.make_cache()
    link(x, cache=cache)
    before = [(c.key, c.value) for c in cache]
    with pytest.raises(ValueError, match=r'attn_mask.shape is \(2, 2\)'):
        link(x, np.ones((2, 2), bool), cache=cache)
    with pytest.raises(InvalidType):
        link(random(3, 3, 4), cache=cache)  # of another batch
    link.layers[1].feed_forward.activation = int  # which fails
    with pytest.raises(TypeError):
        link(x, cache=cache)
    assert all(c.key is k and c.value is v for c, (k, v) in zip(cache, before, strict=True))


# Rows, features, hidden features, for all algorithms of matrix products.
@pytest.mark.parametrize('sizes', [
    (0, 3, 2), (1, 1, 1), (3, 5, 7), (130, 256, 300), (129, 700, 161), (1, 3000, 400),
])  # fmt: skip
@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('nobias', [False, True])
def test_rectified_layer_is_that_of_two_functions(sizes, dtype, nobias):
    rows, size, hidden = sizes
    with chainer.using_config('dtype', np.dtype(dtype)):
        link = FeedForward(size, hidden, nobias=nobias, initial_bias=chainer.initializers.Normal())
    x = random(rows, size).astype(dtype)
    if rows > 2:
        x[1, 0], x[2, 0] = np.nan, np.inf
    results = []
    for device in DEVICES:
        link.to_device(device)
        for activation in ('relu', F.relu):
            link.activation = activation
            v = Variable(link.device.send(x))
            link.cleargrads()
            y = link(v)
            y.grad = link.device.send(random(rows, size).astype(dtype))
            y.backward()
            arrays = [y.array, v.grad, *(p.grad for _, p in sorted(link.namedparams()))]
            results.append([to_numpy(a) for a in arrays])
    for others in results[1:]:
        for a, b in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


def test_gradients_that_others_see_stay_as_they_are(device):
    """A rectified layer masks its output's gradient in place only if it is the sole owner."""
    x, w, v = (Variable(device.send(random(*s))) for s in ((5, 4), (6, 4), (3, 6)))
    y = _rectified_linear(x, w)
    z = F.linear(y, v)
    given = z.grad = device.send(random(5, 3))
    kept = to_numpy(given).copy()
    z.backward(retain_grad=True)
    gy = kept @ to_numpy(v.array)
    np.testing.assert_allclose(to_numpy(y.grad), gy, rtol=1e-5, atol=1e-6)
    masked = gy * (to_numpy(y.array) > 0)
    assert not np.allclose(masked, gy)
    np.testing.assert_allclose(to_numpy(w.grad), masked.T @ to_numpy(x.array), rtol=1e-5, atol=1e-6)
    same(z.grad, kept)
    # One gradient element broadcast to all, and one gradient shared by two functions.
    for use in (F.sum, lambda y: F.sum(F.concat((y, y + 1)))):
        for link_input in (x, w):
            link_input.cleargrad()
        y = _rectified_linear(x, w)
        use(y).backward()
        masked = (to_numpy(y.array) > 0) * (1.0 if use is F.sum else 2.0)
        np.testing.assert_allclose(
            to_numpy(w.grad), masked.T @ to_numpy(x.array), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize('nobias', [False, True])
def test_derivatives_of_a_rectified_layer(device, nobias):
    arrays = [device.send(random(*s).astype('d')) for s in ((5, 4), (6, 4), (6,))]
    arrays = arrays[: 2 if nobias else 3]
    gy = device.send(random(5, 6).astype('d'))
    gradient_check.check_backward(_rectified_linear, arrays, gy, dtype='d')
    gradient_check.check_double_backward(_rectified_linear, arrays, gy, arrays, dtype='d')


def test_a_rectified_layer_needs_its_result():
    device = chainer.get_device('native')
    x = Variable(device.send(random(3, 4)))
    y = _rectified_linear(x, device.send(random(5, 4)))
    y.grad = device.send(np.ones((3, 5), 'f'))
    y.backward()
    before = to_numpy(x.grad).copy()
    x.cleargrad()
    y.backward()
    same(x.grad, before)
    y.array[...] = 1
    with pytest.raises(chainerx.GradientError, match='rectified_linear: the output'):
        y.backward()


@pytest.mark.parametrize('make', [
    lambda: L.TransformerEncoderLayer(4, 2, activation=fails, dropout=0.0),
    lambda: failing_norm(L.TransformerEncoder(2, 4, 2, dropout=0.0, pre_norm=True)),
])  # fmt: skip
def test_an_error_behind_the_attention_leaves_caches_as_they_were(make):
    link = make()
    cache = link.make_cache()
    with pytest.raises(ZeroDivisionError):
        link(random(2, 3, 4), cache=cache)
    assert [len(c) for c in (cache if isinstance(cache, list) else [cache])] in ([0], [0, 0])


def fails(x):
    raise ZeroDivisionError


def failing_norm(link):
    link.norm.forward = fails
    return link


def test_one_sequence_as_several(device):
    """Concatenated products give the same as single ones."""
    for options in ({}, {'n_kv_heads': 1}, {'nobias': True}):
        link = L.MultiHeadAttention(2, 4, **options).to_device(device)
        x, z = device.send(random(2, 3, 4)), device.send(random(2, 5, 4))
        same(link(x), link(x, x.copy(), x.copy()))
        same(link(x), link(x, x, x.copy()))
        same(link(x, z), link(x, z, z.copy()))
        same(link(x, z, z), link(x, z.copy(), z))


def test_queries_without_keys(device):
    link = L.MultiHeadAttention(2, 4, initial_bias=random(12)[:4].mean()).to_device(device)
    x, z = random(2, 3, 4), random(2, 0, 4)
    for y in (
        link(device.send(x), device.send(z)),
        link(device.send(x), mask=device.send(np.zeros((3, 3), bool))),
    ):
        same(y, np.broadcast_to(to_numpy(link.b_out), x.shape))
    assert link(device.send(z), device.send(x)).shape == z.shape
    assert link(device.send(x[:0])).shape == (0, 3, 4)


def test_dropout_is_of_training(device):
    link = L.TransformerEncoder(2, 8, 2, dropout=0.5).to_device(device)
    x = device.send(random(2, 4, 8))
    assert (to_numpy(link(x)) != to_numpy(link(x))).any()
    with chainer.using_config('train', False):
        y = link(x)
        same(y, link(x))
    for part in link.links():
        if hasattr(part, 'dropout'):
            part.dropout = 0.0
    same(link(x), y)


def test_mean_of_dropped_weights():
    """Dropout of attention weights keeps the mean."""
    link = L.MultiHeadAttention(1, 2, dropout=0.3, initialW=1.0)
    x = np.ones((1, 2000, 2), 'f')
    y = link(x).array
    assert y.std() > 0.01
    np.testing.assert_allclose(y.mean(), 4.0, 1e-2)


@pytest.mark.parametrize(
    'make',
    [
        lambda size: L.MultiHeadAttention(2, size),
        lambda size: L.MultiHeadAttention(2, size, 4, 4, nobias=True),
        lambda size: FeedForward(size, 5),
        lambda size: L.TransformerEncoder(2, size, 2, pre_norm=True, dropout=0.0),
        lambda size: L.RMSNorm(size),
    ],
)
def test_snapshots_and_copies(make, tmp_path):
    link, lazy = make(4), make(None)
    shapes = {path: p.shape for path, p in link.namedparams()}
    assert set(shapes) == {path for path, _ in lazy.namedparams()}
    assert not any(p.is_initialized for p in lazy.params())
    for p in link.params():
        p.array[...] = np.random.randn(*p.shape)
    serializers.save_npz(tmp_path / 'link.npz', link)
    serializers.load_npz(tmp_path / 'link.npz', lazy)
    x = random(3, 4) if isinstance(link, FeedForward) else random(2, 3, 4)
    expected = link(x)
    for other in (lazy, link.copy('copy')):
        same(other(x), expected)
    fresh = link.copy('init')
    assert {path: p.shape for path, p in fresh.namedparams()} == shapes
    first = make(None)
    assert first(x).shape == expected.shape
    assert {path: p.shape for path, p in first.namedparams()} == shapes
    assert len(link.repeat(2)) == 2


def test_first_inputs_that_are_refused_make_no_weights():
    link = L.MultiHeadAttention(2)
    for bad in (random(2, 3), random(2, 3, 5)):
        with pytest.raises((InvalidType, ValueError)):
            link(bad)
    with pytest.raises(InvalidType):
        link(random(2, 3, 4), random(2, 3, 6))
    assert not any(p.is_initialized for p in link.params())
    assert link(random(2, 3, 6)).shape == (2, 3, 6)


@pytest.mark.parametrize('norm', ['layer', 'rms'])
@pytest.mark.parametrize('pre_norm', [False, True])
@pytest.mark.parametrize('bad', [random(2, 3, 5), np.ones((2, 3, 4), int)], ids=['odd', 'int'])
def test_first_inputs_that_are_refused_make_no_weights_of_a_layer(norm, pre_norm, bad):
    link = L.TransformerEncoder(2, None, 2, norm=norm, pre_norm=pre_norm)
    with pytest.raises((InvalidType, ValueError)):
        link(bad)
    assert not any(p.is_initialized for p in link.params())
    assert link(random(2, 3, 6)).shape == (2, 3, 6)


def test_a_norm_that_no_layer_checks():
    with pytest.raises(ValueError, match="norm is 'x', expected one of 'layer', 'rms'"):
        L.TransformerEncoder(0, 4, 2, norm='x', pre_norm=True)


def test_errors_name_the_path():
    link = L.TransformerEncoder(2, 4, 2, pre_norm=True)
    with pytest.raises(InvalidType) as info:
        link(random(2, 3, 6))
    assert re.search('/layers/0/norm1.* of TransformerEncoder', str(info.value))
    link = L.TransformerEncoder(2, 4, 2)
    with pytest.raises(InvalidType) as info:
        link(random(2, 3, 6))
    assert re.search('/layers/0/attention .* of TransformerEncoder', str(info.value))
    assert re.search(r'query.shape\[2\] == 4', str(info.value))
    assert '6 != 4' in str(info.value)


def test_learns_distant_dependencies(device):
    """Attention learns which of two symbols came first, 12 steps ago."""
    rng = np.random.RandomState(0)
    x = rng.normal(0, 0.1, (64, 12, 8)).astype('f')
    t = rng.randint(0, 2, 64).astype('i')
    x[:, 0, 0] += 2 * t - 1

    class Net(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.encoder = L.TransformerEncoder(1, 8, 2, 16, 0.0, 'gelu', rotary=True)
                self.last = L.Linear(8, 2)

        def forward(self, x):
            return self.last(self.encoder(x, causal=True)[:, -1])

    net = Net().to_device(device)
    optimizer = chainer.optimizers.Adam(0.02).setup(net)
    x, t = device.send((x, t))
    for _ in range(40):
        loss = F.softmax_cross_entropy(net(x), t)
        net.cleargrads()
        loss.backward()
        optimizer.update()
    assert float(loss.array) < 0.05
