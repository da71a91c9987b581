"""Normalizing links."""

import importlib.util
import pathlib
import pickle
import warnings

import chainer
import numpy as np
import pytest
from chainer import Variable, serializers
from chainer import functions as F
from chainer import links as L
from chainer.utils.type_check import InvalidType
from devices import DEVICES, to_numpy

SCRIPT = pathlib.Path(__file__).parents[1] / 'data' / 'make_v7_normalization.py'
spec = importlib.util.spec_from_file_location('make_v7_normalization', SCRIPT)
v7 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(v7)


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def random(*shape, seed=0):
    return np.random.RandomState(seed).standard_normal(shape).astype('f')


def standardized(x, axis, eps=2e-5):
    mean, var = x.mean(axis, keepdims=True), x.var(axis, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)


def close(actual, expected, rtol=1e-5):
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=rtol, atol=rtol)


class Steps:
    """A link's steps with the expected running statistics."""

    def __init__(self, axis=(0, 2, 3), decay=0.9):
        self.axis, self.decay, self.mean, self.var = axis, decay, 0.0, 1.0

    def add(self, x, decay=None):
        decay = self.decay if decay is None else decay
        self.mean = decay * self.mean + (1 - decay) * x.mean(self.axis)
        self.var = decay * self.var + (1 - decay) * x.var(self.axis, ddof=1)


def test_batch_normalization(device):
    link = L.BatchNormalization(3, decay=0.8).to_device(device)
    assert link.device == device
    steps = Steps(decay=0.8)
    mean = link.avg_mean
    for i in range(3):
        x = random(4, 3, 2, 5, seed=i) * (i + 1) + i
        y = link(device.send(x))
        close(y.array, standardized(x, (0, 2, 3)))
        steps.add(x)
        close(link.avg_mean, steps.mean)
        close(link.avg_var, steps.var)
    assert link.avg_mean is mean
    assert link.N == 0
    with chainer.using_config('train', False):
        z = link(device.send(x))
    expand = (slice(None), None, None)
    close(z.array, (x - steps.mean[expand]) / np.sqrt(steps.var[expand] + 2e-5))
    close(link.avg_mean, steps.mean)
    assert link.avg_mean.dtype == np.float32
    link.cleargrads()
    F.sum(y * y).backward()
    assert to_numpy(link.gamma.grad).shape == (3,)
    close(link.beta.grad, 2 * to_numpy(y.array).sum((0, 2, 3)), 1e-4)


def test_finetune(device):
    link = L.BatchNormalization(3).to_device(device)
    link(device.send(random(4, 3, 2, 2, seed=9)))
    link.start_finetuning()
    steps = Steps()
    for i in range(3):
        x = random(4, 3, 2, 2, seed=i)
        link(device.send(x), finetune=True)
        steps.add(x, 1 - 1 / (i + 1))
        assert i + 1 == link.N
        close(link.avg_mean, steps.mean)
        close(link.avg_var, steps.var)
    link.start_finetuning()
    assert link.N == 0


@pytest.mark.parametrize(
    ('axis', 'shape', 'kept'),
    [((0, 2, 3), (4, 3, 2, 2), (3,)), (0, (4, 3), (3,)), ((0, 1), (4, 3, 2), (2,)),
     ((0, 2), (4, 3, 2, 5), (3, 5))],
)  # fmt: skip
def test_size_from_the_first_input(device, axis, shape, kept):
    link = L.BatchNormalization(axis=axis).to_device(device)
    assert link.avg_mean is None
    assert 'size=None' in str(link)
    x = random(*shape)
    close(link(device.send(x)).array, standardized(x, axis))
    assert link.gamma.shape == link.beta.shape == link.avg_mean.shape == link.avg_var.shape == kept
    assert link.device.is_array_supported(link.avg_var)
    close(link.avg_mean, 0.1 * x.mean(axis))


@pytest.mark.parametrize(
    ('make', 'shapes', 'good'),
    [
        (lambda: L.BatchNormalization(axis=(0, 2)), ((), (3,), (2, 3)), (2, 3, 4)),
        (lambda: L.LayerNormalization(), ((), (3,), (2, 3, 4)), (2, 3)),
        (lambda: L.GroupNormalization(1), ((), (3,)), (2, 3)),
    ],
)
def test_errors_leave_a_lazy_link_unchanged(make, shapes, good, device):
    link = make().to_device(device)
    for shape in shapes:
        with pytest.raises((InvalidType, ValueError), match=r'x\.ndim'):
            link(device.send(random(*shape)))
        assert not link.gamma.is_initialized
    link(device.send(random(*good)))
    assert link.gamma.shape == (3,)


def test_one_element_for_each_mean_is_warned_of(device):
    link = L.BatchNormalization(3).to_device(device)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for shape in ((2, 3), (1, 3, 2), (0, 3)):
            link(device.send(random(*shape)))
        with chainer.using_config('train', False):
            link(device.send(random(1, 3)))
        L.BatchNormalization(0)(random(1, 0))
    for shape in ((1, 3), (1, 3, 1, 1)):
        with pytest.warns(UserWarning, match=r'batch_normalization: x.shape is \(1, 3'):
            y = link(device.send(random(*shape)))
        close(y.array, np.zeros(shape))


@pytest.mark.parametrize(
    'make',
    [
        lambda: L.BatchNormalization(4),
        lambda: L.BatchRenormalization(4),
        lambda: L.DecorrelatedBatchNormalization(4, groups=2),
    ],
)
def test_training_leaves_gradients_of_an_evaluation_alone(make, device):
    """Training in between keeps gradients of an evaluation, as in a GAN with one backward."""
    found = []
    for trains in (False, True):
        link = make().to_device(device)
        link(device.send(random(9, 4)))
        x = Variable(device.send(random(5, 4)))
        with chainer.using_config('train', False):
            y = link(x)
        link.cleargrads()
        if trains:
            link(device.send(random(8, 4)))
        F.sum(y * y * y).backward()
        found.append([to_numpy(v.grad) for v in (x, *link.params())])
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_fixed_batch_renormalization_is_deprecated():
    row = np.ones(3, 'f')
    with pytest.warns(DeprecationWarning, match='use fixed_batch_normalization'):
        F.fixed_batch_renormalization(random(2, 3), row, row, row, row)


def test_without_parameters(device):
    x = random(4, 3)
    link = L.BatchNormalization(3, use_gamma=False).to_device(device)
    assert link.gamma is None
    close(link(device.send(x)).array, standardized(x, 0))
    assert [name for name, _ in link.namedparams()] == ['/beta']
    link = L.BatchNormalization(3, use_beta=False, initial_gamma=2).to_device(device)
    close(link(device.send(x)).array, 2 * standardized(x, 0))
    assert [name for name, _ in link.namedparams()] == ['/gamma']


def test_initial_values():
    given = np.array([1, 2, 3.0])
    link = L.BatchNormalization(
        3, dtype='d', initial_gamma=given, initial_beta=4, initial_avg_mean=given + 1,
        initial_avg_var=chainer.initializers.Constant(5),
    )  # fmt: skip
    for value, expected in (
        (link.gamma.array, given),
        (link.beta.array, [4] * 3),
        (link.avg_mean, given + 1),
        (link.avg_var, [5] * 3),
    ):
        assert value.dtype == np.float64
        np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(given, [1, 2, 3])


@pytest.mark.parametrize(
    ('dtype', 'own'), [(chainer.mixed16, 'f'), (np.float16, 'e'), (np.float64, 'd')]
)
def test_configured_dtype(device, dtype, own):
    with chainer.using_config('dtype', dtype):
        link = L.BatchNormalization(3).to_device(device)
        x = random(8, 3).astype(chainer.get_dtype())
    assert link.gamma.dtype == link.avg_mean.dtype == own
    x = Variable(device.send(x))
    y = link(x)
    assert y.dtype == x.dtype
    close(y.array, standardized(to_numpy(x.array).astype('d'), 0), 3e-3)
    y.grad = device.send(np.ones_like(to_numpy(x.array)))
    y.backward()
    assert x.grad.dtype == x.dtype
    assert link.gamma.grad.dtype == own


def test_statistics_of_the_users(device):
    link = L.BatchNormalization(3).to_device(device)
    link.avg_mean = device.send(np.full(3, 5, 'f'))
    x = random(4, 3)
    link(device.send(x))
    close(link.avg_mean, 4.5 + 0.1 * x.mean(0))
    link.avg_mean[...] = 1
    link.avg_var[...] = 4
    with chainer.using_config('train', False):
        close(link(device.send(x)).array, (x - 1) / np.sqrt(4 + 2e-5))


def test_numpy_statistics_stay_where_they_are():
    whole = np.zeros((3, 2), 'f')
    link = L.BatchNormalization(3)
    link.avg_mean, link.avg_var = whole[:, 0], whole[:, 1]
    x = random(4, 3)
    link(x)
    np.testing.assert_allclose(whole, 0.1 * np.stack([x.mean(0), x.var(0, ddof=1)], 1), rtol=1e-5)
    whole.flags.writeable = False
    link.avg_mean = whole[:, 0]
    with pytest.raises(ValueError, match='batch_normalization: running_mean is read-only'):
        link(x)


def test_recomputing_counts_once(device):
    link = L.BatchNormalization(3).to_device(device)
    x = Variable(device.send(random(4, 3)))
    for finetune in (False, True):
        y = F.forget(lambda x, finetune=finetune: link(x, finetune=finetune), x)
        before, n = to_numpy(link.avg_mean).copy(), link.N
        y.grad = device.send(random(4, 3))
        y.backward()
        np.testing.assert_array_equal(to_numpy(link.avg_mean), before)
        assert link.N == n == int(finetune)


def test_errors(device):
    with pytest.raises(RuntimeError, match='size or axis'):
        L.BatchNormalization()
    link = L.BatchNormalization(4).to_device(device)
    x = device.send(random(2, 3))
    with pytest.raises(InvalidType, match='shape'):
        link(x)
    with pytest.raises(ValueError, match='using_config'):
        link(x, test=True)
    with pytest.raises(TypeError, match='momentum'):
        link(x, momentum=1)
    close(link.avg_mean, np.zeros(4))


@pytest.mark.parametrize('lazy', [False, True])
def test_save_and_load(device, lazy, tmp_path):
    def made():
        link = L.BatchNormalization(axis=(0,)) if lazy else L.BatchNormalization(3)
        return link.to_device(device)

    link = made()
    link(device.send(random(4, 3)), finetune=True)
    path = tmp_path / 'link.npz'
    serializers.save_npz(path, link)
    other = made()
    serializers.load_npz(path, other)
    assert other.N == 1
    for name in ('avg_mean', 'avg_var'):
        value = getattr(other, name)
        assert device.is_array_supported(value)
        np.testing.assert_array_equal(to_numpy(value), to_numpy(getattr(link, name)))
    other(device.send(random(4, 3, seed=1)))
    again = pickle.loads(pickle.dumps(link))
    np.testing.assert_array_equal(to_numpy(again.avg_mean), to_numpy(link.avg_mean))


def test_copies_have_their_own_statistics(device):
    link = L.BatchNormalization(3).to_device(device)
    copy = link.copy('copy')
    copy(device.send(random(4, 3)))
    close(link.avg_mean, np.zeros(3))
    moved = link.copy('copy').to_device('@numpy')
    assert isinstance(moved.avg_mean, np.ndarray)


def test_training_in_a_chain(device):
    """The loss falls, and evaluation with running statistics approaches that of training."""
    model = chainer.Sequential(L.Linear(4, 8), L.BatchNormalization(8), F.relu, L.Linear(8, 2))
    model.to_device(device)
    optimizer = chainer.optimizers.MomentumSGD(0.1).setup(model)
    x = random(64, 4)
    t = (x.sum(1) > 0).astype('i')
    x, t = device.send(x), device.send(t)
    losses = []
    for _ in range(40):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(float(loss.array))
    with chainer.using_config('train', False):
        evaluated = float(F.softmax_cross_entropy(model(x), t).array)
    assert losses[-1] < 0.3 * losses[0]
    assert evaluated < 2 * losses[-1] + 0.05


# -- results of v7


def v7_of(name):
    with np.load(v7.PATH) as file:
        prefix = f'{name}/'
        return {k.removeprefix(prefix): file[k] for k in file.files if k.startswith(prefix)}


def assert_as_in_v7(found, name):
    expected = v7_of(name)
    assert found.keys() == expected.keys()
    for key, value in found.items():
        assert (value.dtype, value.shape) == (expected[key].dtype, expected[key].shape), key
        np.testing.assert_allclose(value, expected[key], 2e-5, 2e-5, err_msg=f'{name}: {key}')


@pytest.mark.parametrize('name', v7.LINKS)
def test_steps_as_in_v7(name):
    assert_as_in_v7(v7.steps_of(name), name)


def test_responses_as_in_v7():
    assert_as_in_v7(v7.responses(), 'responses')


# -- the others


@pytest.mark.parametrize(
    ('make', 'shape'),
    [
        (lambda: L.GroupNormalization(3), (4, 6, 5)),
        (lambda: L.GroupNormalization(2, 6, eps=0.1), (4, 6)),
        (lambda: L.LayerNormalization(), (4, 6)),
        (lambda: L.LayerNormalization(6), (4, 6)),
        (lambda: L.BatchRenormalization(6, 2, 1), (4, 6, 5)),
        (lambda: L.DecorrelatedBatchNormalization(6, 2), (9, 6)),
    ],
)
def test_kinds_of_arrays_agree(make, shape):
    results = []
    for name in DEVICES:
        device = chainer.get_device(name)
        link = make().to_device(device)
        for i in range(2):
            x = Variable(device.send(random(*shape, seed=i)))
            y = link(x)
            y.grad = device.send(random(*shape, seed=9))
            link.cleargrads()
            y.backward()
        with chainer.using_config('train', False):
            evaluated = link(x.array)
        assert evaluated.device == device
        values = [y.array, x.grad, evaluated.array, *(p.grad for _, p in link.namedparams())]
        values += [v for k in sorted(link._persistent) if k != 'N' for v in [getattr(link, k)]]
        assert all(device.is_array_supported(v) for v in values)
        results.append([to_numpy(v) for v in values])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_group_and_layer_parameters():
    for link in (L.GroupNormalization(2, 4, 1e-3, 2, 3), L.LayerNormalization(4, 1e-3, 2, 3)):
        assert (link.gamma.shape, link.beta.shape, link.eps) == ((4,), (4,), 1e-3)
        np.testing.assert_array_equal(link.gamma.array, [2] * 4)
        np.testing.assert_array_equal(link.beta.array, [3] * 4)
    with pytest.raises(ValueError, match='at least 2'):
        L.GroupNormalization(2)(random(4))
    with pytest.raises(ValueError, match='groups is 4'):
        L.GroupNormalization(4)(random(2, 6))
    with pytest.raises(InvalidType, match='ndim'):
        L.LayerNormalization(4)(random(2, 3, 4))


def test_renormalization_initial_values():
    link = L.BatchRenormalization(2, initial_avg_mean=3, initial_avg_var=4, initial_gamma=5)
    assert link.axis is None
    for value, expected in ((link.avg_mean, 3), (link.avg_var, 4), (link.gamma.array, 5)):
        np.testing.assert_array_equal(value, [expected] * 2)


def test_decorrelated_is_decorrelated(device):
    x = random(200, 4) @ random(4, 4, seed=1) + 3
    link = L.DecorrelatedBatchNormalization(4, 1).to_device(device)
    y = to_numpy(link(device.send(x)).array)
    np.testing.assert_allclose(np.cov(y.T, ddof=0), np.eye(4), atol=1e-3)
    link = L.DecorrelatedBatchNormalization(4, 2).to_device(device)
    y = to_numpy(link(device.send(x)).array)
    for group in (y[:, :2], y[:, 2:]):
        np.testing.assert_allclose(np.cov(group.T, ddof=0), np.eye(2), atol=1e-3)
    with pytest.raises(InvalidType):
        link(device.send(random(4, 3)))
    with pytest.raises(TypeError, match='train'):
        link(device.send(x), train=True)


@pytest.mark.parametrize(('n', 'channels', 'groups'), [(2, 4, 1), (3, 8, 2), (4, 4, 1), (5, 16, 1)])
def test_gradient_of_decorrelation_with_fewer_rows_than_channels(device, n, channels, groups):
    """Directions without variance do not affect the gradient of the others."""
    grads = []
    for dtype in ('float64', 'float32'):
        x = Variable(device.send(random(n, channels).astype(dtype)))
        y = F.decorrelated_batch_normalization(x, groups=groups)
        y.grad = device.send(random(n, channels, seed=1).astype(dtype))
        y.backward(enable_double_backprop=True)
        (ggx,) = chainer.grad(
            [x.grad_var], [x], [Variable(device.send(random(n, channels, seed=2).astype(dtype)))]
        )
        grads.append([to_numpy(x.grad), to_numpy(ggx.array)])
    for wide, narrow, tolerance in zip(*grads, (5e-4, 0.1), strict=True):
        assert np.abs(narrow - wide).max() < tolerance * np.abs(wide).max()


def test_nan_passes_decorrelation(device):
    x = random(10, 4)
    x[3, 0] = np.nan
    y = to_numpy(F.decorrelated_batch_normalization(device.send(x), groups=2).array)
    assert np.isnan(y[:, :2]).all()
    assert np.isfinite(y[:, 2:]).all()
