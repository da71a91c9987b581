"""Noise: the numbers of a run differ from those of the export, and have their distribution."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import onnx
import onnx_chainer
import pytest
from onnx_runtime import run

N = 40000
OPSETS = (9, 13, 17, 21)  # the newest random numbers that onnxruntime has
X = np.random.default_rng(0).standard_normal((N, 2)).astype('f')


def outputs(function, *args, train=True, **kwargs):
    proto = onnx_chainer.export(function, list(args), train=train, **kwargs)
    onnx.checker.check_model(proto, full_check=True)
    # onnxruntime's optimization takes Dropout away, even where it trains.
    return run(proto, args, optimizes=False)


def near(values, expected, deviation):
    """Whether the mean is within six deviations of it."""
    np.testing.assert_allclose(
        np.mean(values), expected, atol=6 * deviation / np.size(values) ** 0.5
    )


@pytest.mark.parametrize('opset', OPSETS)
@pytest.mark.parametrize('train', [False, True])
def test_gaussian(opset, train):
    def function(mean, ln_var):
        y, eps = F.gaussian(mean, ln_var, return_eps=True)
        return y, F.copy(eps, -1)

    mean, ln_var = np.full((N, 2), 3, 'f'), np.full((N, 2), np.log(4), 'f')
    y, eps = outputs(function, mean, ln_var, train=train, opset_version=opset)
    near(y, 3, 2)
    near((y - 3) ** 2, 4, 4 * 2**0.5)
    np.testing.assert_allclose(y, 3 + 2 * eps, rtol=1e-4)


def test_gaussian_of_given_numbers():
    eps = np.ones((N, 2), 'f')
    (y,) = outputs(lambda mean: F.gaussian(mean, mean, eps=eps), X)
    np.testing.assert_allclose(y, F.gaussian(X, X, eps=eps).array, rtol=1e-5, atol=1e-6)
    (y,) = outputs(lambda mean, e: F.gaussian(mean, mean, eps=F.tanh(e).array), X, -X)
    expected = F.gaussian(X, X, eps=np.tanh(-X)).array
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('opset', OPSETS)
def test_zoneout(opset):
    (y,) = outputs(lambda h, x: F.zoneout(h, x, 0.3), 0 * X, 0 * X + 1, opset_version=opset)
    assert set(np.unique(y)) == {0, 1}
    near(y, 0.7, 0.5)
    (y,) = outputs(lambda h, x: F.zoneout(h, x, 0.3), X, -X, train=False, opset_version=opset)
    np.testing.assert_array_equal(y, -X)


@pytest.mark.parametrize('opset', OPSETS)
def test_rrelu(opset):
    (y,) = outputs(lambda x: F.rrelu(x, 0.1, 0.3), -np.abs(X) - 1, opset_version=opset)
    slope = y / (-np.abs(X) - 1)
    assert 0.1 <= slope.min() < slope.max() <= 0.3001
    near(slope, 0.2, 0.2 / 12**0.5)
    slopes = np.full_like(X, 0.5)
    (y,) = outputs(lambda x: F.rrelu(x, r=slopes), X, opset_version=opset)
    np.testing.assert_allclose(y, np.where(X > 0, X, X / 2))


@pytest.mark.parametrize('opset', OPSETS)
def test_gumbel_softmax(opset):
    log_pi = np.log(np.tile(np.array([[0.2, 0.8]], 'f'), (N, 1)))
    (y,) = outputs(lambda v: F.gumbel_softmax(v, 0.01), log_pi, opset_version=opset)
    near(y[:, 1] > 0.5, 0.8, 0.4)


@pytest.mark.parametrize('opset', OPSETS)
@pytest.mark.parametrize('per_example', [False, True])
def test_simplified_dropconnect(opset, per_example):
    link = L.SimplifiedDropconnect(2, 50, 0.25)
    link.W.array[...] = 1
    x = np.ones((500, 2), 'f')

    def function(x):
        return link(x, True, use_batchwise_mask=per_example)

    (y,) = outputs(function, x, opset_version=opset)
    # Examples that share a mask are the same.
    values = y if per_example else y[:1]
    assert (y == y[:1]).all() != per_example
    assert set(np.unique(np.round(y * 0.75))) <= {0, 1, 2}
    near(values, 2, (2 * 0.25 / 0.75) ** 0.5)
    (y,) = outputs(lambda x: link(x, False), x, opset_version=opset)
    np.testing.assert_allclose(y, 2)
    mask = np.eye(2, dtype=bool)[np.arange(50) % 2]
    (y,) = outputs(lambda x: link(x, True, mask, use_batchwise_mask=False), x, opset_version=opset)
    np.testing.assert_allclose(y, 1 / 0.75, rtol=1e-6)


@pytest.mark.parametrize('opset', [o for o in OPSETS if o >= 12])
def test_dropout_inside_of_layers(opset):
    def attention(q, v):
        return F.scaled_dot_product_attention(q, q, v, dropout_p=0.5)

    # Equal keys have equal weights, of which a dropout leaves fewer.
    v = np.ones((1, 400, 2), 'f')
    (y,) = outputs(attention, 0 * v, v, opset_version=opset)
    assert np.std(y) > 0.01
    near(y[..., 0], 1, 400**-0.5)
    rnn = L.NStepLSTM(2, 3, 4, 0.5)
    xs = [np.ones((5, 3), 'f')]
    proto = onnx_chainer.export(
        lambda x: rnn(None, None, [x])[2][0], xs, train=True, opset_version=opset
    )
    assert [n.op_type for n in proto.graph.node].count('Dropout') == 1
    a, b = (run(proto, xs, optimizes=False)[0] for _ in range(2))
    assert (a != b).any()


def test_masks_that_are_given():
    mask = np.float32(2) * (X > 0)
    (y,) = outputs(lambda x: F.dropout(x, mask=mask), X)
    np.testing.assert_array_equal(y, X * mask)
    with chainer.using_config('train', True):
        expected = F.dropout(X, mask=-X).array
    (y,) = outputs(lambda x: F.dropout(x, mask=(-x).array), X)
    np.testing.assert_array_equal(y, expected)
