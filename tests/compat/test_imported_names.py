"""Underscored names that libraries import from v7's modules."""

import importlib

import chainer
import numpy as np
import pytest
from chainer import functions as F

DEVICES = ['@numpy', 'native:0']
random = np.random.RandomState(0)
X = random.standard_normal((2, 8)).astype('f')


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def name(path):
    module, _, attribute = path.rpartition('.')
    return getattr(importlib.import_module(f'chainer.{module}'), attribute)


def numpy(x):
    return chainer.get_device('@numpy').send(x.array if isinstance(x, chainer.Variable) else x)


def close(actual, expected):
    np.testing.assert_allclose(numpy(actual), numpy(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('axis', [1, 0, -1])
def test_log_softmax_of_arrays(device, axis):
    log_softmax = name('functions.activation.log_softmax._log_softmax')
    y = log_softmax(device.send(X), axis=axis)
    assert device.is_array_supported(y)
    close(y, F.log_softmax(X, axis=axis))
    close(log_softmax(device.send(X * 1000)), F.log_softmax(X * 1000))


@pytest.mark.parametrize('module', ['lstm', 'slstm', 'tree_lstm'])
def test_gates(device, module):
    x = device.send(X)
    y = numpy(name(f'functions.rnn.{module}._sigmoid')(x))
    close(y, 1 / (1 + np.exp(-X)))
    close(name(f'functions.rnn.{module}._grad_sigmoid')(x), X - X * X)
    close(name(f'functions.rnn.{module}._grad_tanh')(x), 1 - X * X)
    gates = name(f'functions.rnn.{module}._extract_gates')
    if module == 'tree_lstm':
        close(chainer.functions.stack(gates(x, 4)), X.reshape(2, 4, 2).transpose(1, 0, 2))
        assert [g.shape for g in gates(device.send(X[:, :5]))] == [(2, 1)] * 5
        return
    close(chainer.functions.stack(list(gates(x))), X.reshape(2, 2, 4).transpose(2, 0, 1))
    close(name(f'functions.rnn.{module}._grad_grad_sigmoid')(x), (X - X * X) * (1 - 2 * X))
    close(name(f'functions.rnn.{module}._grad_grad_tanh')(x, 2 * x), -4 * X * X)


def weights(n_gates, device):
    w = [random.standard_normal((4, 3)).astype('f') for _ in range(n_gates)]
    w += [random.standard_normal((4, 4)).astype('f') for _ in range(n_gates)]
    b = [random.standard_normal(4).astype('f') for _ in range(2 * n_gates)]
    return [device.send(a) for a in w], [device.send(a) for a in b]


@pytest.mark.parametrize('kind', ['lstm', 'gru'])
def test_steps_of_recurrent_layers(device, kind):
    step = name(f'functions.rnn.n_step_{kind}._{kind}')
    loop = name('functions.rnn.n_step_rnn._one_directional_loop')
    w, b = weights(4 if kind == 'lstm' else 3, device)
    h, c = (device.send(random.standard_normal((2, 4)).astype('f')) for _ in range(2))
    xs = [device.send(random.standard_normal((n, 3)).astype('f')) for n in (2, 2, 1)]
    if kind == 'lstm':
        hy, cy, ys = F.n_step_lstm(1, 0.0, h[None], c[None], [w], [b], xs)
    else:
        c = None
        hy, ys = F.n_step_gru(1, 0.0, h[None], [w], [b], xs)
    v = chainer.as_variable
    h2, c2, hs = loop(step, [v(x) for x in xs], v(h), None if c is None else v(c), w, b)
    close(h2, hy[0])
    if kind == 'lstm':
        close(c2, cy[0])
    else:
        assert c2 is None
    for y, expected in zip(hs, ys, strict=True):
        close(y, expected)
    h1, c1 = step(xs[0], h, c, w, b)
    close(h1, hs[0])
    assert (c1 is None) == (kind == 'gru')


def test_parts_of_sequences(device):
    ws = [device.send(X), device.send(X + 1)]
    close(
        name('functions.rnn.n_step_lstm._stack_weight')(ws), np.stack([X, X + 1], 1).reshape(4, 8)
    )
    drop = name('functions.rnn.n_step_rnn._dropout_sequence')
    close(F.concat(drop(ws, 0.0)), F.concat(ws))


def test_pairs():
    for module in (
        'functions.connection.convolution_2d', 'links.connection.convolution_2d',
        'functions.pooling.pooling_2d', 'functions.pooling.roi_average_align_2d',
        'links.connection.deconvolution_2d', 'functions.array.im2col',
    ):  # fmt: skip
        pair = name(f'{module}._pair')
        assert pair(3) == (3, 3)
        assert pair((1, 2)) == (1, 2)
        assert pair([1, 2]) == [1, 2]


def test_checks_of_losses(device):
    module = 'functions.loss.softmax_cross_entropy'
    check = name(f'{module}._check_class_weight_option')
    ones = device.send(np.ones(3, 'f'))
    assert check(None) is None
    assert check(ones) is None
    for bad in (device.send(np.ones((3, 1), 'f')), ones.astype('i'), chainer.Variable(ones)):
        with pytest.raises(ValueError, match='class_weight'):
            check(bad)
    check = name(f'{module}._check_reduce_option')
    assert check('no') is None
    with pytest.raises(ValueError, match='reduce'):
        check('sum')
    check = name(f'{module}._check_input_values')
    x = device.send(np.ones((2, 3), 'f'))
    assert check(x, device.send(np.array([0, -1])), -1) is None
    with pytest.raises(ValueError, match='labels'):
        check(x, device.send(np.array([0, 3])), -1)
    assert name(f'{module}._broadcast_to')(ones, (2, 3)).shape == (2, 3)


def test_logsumexp_of_arrays(device):
    logsumexp = name('functions.loss.ctc._logsumexp')
    x = device.send(X)
    close(logsumexp(x, device.xp, axis=1), np.log(np.exp(X).sum(1)))
    close(logsumexp(x, device.xp), np.log(np.exp(X).sum()))


def test_images(tmp_path):
    image = pytest.importorskip('PIL.Image')
    pixels = random.randint(0, 255, (4, 5, 3)).astype('u1')
    name('datasets.image_dataset._check_pillow_availability')()
    read = name('datasets.image_dataset._read_image_as_array')
    post = name('datasets.image_dataset._postprocess_image')
    grey = pixels[..., 0]
    for array, expected in ((pixels, pixels.transpose(2, 0, 1)), (grey, grey[None])):
        path = tmp_path / 'x.png'
        image.fromarray(array).save(path)
        found = read(str(path), np.float64)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, array)
        np.testing.assert_array_equal(post(found), expected)


def test_packed_gradients_and_parameters(device):
    updater = 'training.updaters.multiprocess_parallel_updater'
    model = chainer.Sequential(chainer.links.Linear(3, 2), chainer.links.Linear(None, 1))
    model[0].b.array = model[0].b.array.astype('e')
    model.to_device(device)
    model.cleargrads()
    (w,) = [p for path, p in model.namedparams() if path == '/0/W']
    w.grad = device.send(np.arange(6, dtype='f').reshape(2, 3))
    model[0].b.grad = device.send(np.array([7, 8], 'e'))
    assert name(f'{updater}.size_num_grads')(model) == (8, 2)

    grads = name(f'{updater}.gather_grads')(model)
    assert device.is_array_supported(grads)
    np.testing.assert_array_equal(numpy(grads), np.array([0, 1, 2, 3, 4, 5, 7, 8], 'f'))
    name(f'{updater}.scatter_grads')(model, grads * 2)
    np.testing.assert_array_equal(numpy(w.grad), 2 * np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(numpy(model[0].b.grad), np.array([14, 16], 'e'))
    assert model[0].b.grad.dtype == np.float16

    params = name(f'{updater}.gather_params')(model)
    assert params.shape == (9,)  # the other weight is uninitialized
    array = w.array
    name(f'{updater}.scatter_params')(model, params + 1)
    np.testing.assert_array_equal(numpy(name(f'{updater}.gather_params')(model)), numpy(params) + 1)
    assert w.array is array
    for scatter in 'scatter_params', 'scatter_grads':
        with pytest.raises(ValueError, match=r'\(3,\), expected'):
            name(f'{updater}.{scatter}')(model, params[:3])
    model.cleargrads()
    with pytest.raises(ValueError, match='none'):
        name(f'{updater}.gather_grads')(model)
