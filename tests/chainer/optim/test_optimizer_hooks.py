"""Optimizer hooks: a table of v7's resulting gradients, and when hooks are called."""

from __future__ import annotations

import functools

import chainer
import numpy as np
import pytest
from chainer import optimizer_hooks as hooks
from chainer import optimizers
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    with chainer.using_device(request.param):
        yield request.param


def link_of(dtype, device):
    """Two parameters with gradients; the second has a norm below LARS's threshold."""
    link = chainer.Link()
    with link.init_scope():
        link.a = chainer.Parameter(np.array([[1, -2], [0, 0.5]], dtype))
        link.b = chainer.Parameter(np.array([0.003, -0.004], dtype))
    link.a.grad = np.array([[3, -4], [0.5, 0]], dtype)
    link.b.grad = np.array([0.25, -1.5], dtype)
    return link.to_device(device)


def values(array):
    return chainer.backend.CpuDevice().send(array)


def gradients(link):
    return np.concatenate([values(param.grad).ravel() for param in link.params()])


# The resulting gradients in Chainer 7.8.1, in float32 and float16.
TABLE = [
    (
        'WeightDecay',
        {'rate': 0.25},
        [3.25, -4.5, 0.5, 0.125, 0.25075, -1.501],
        [3.25, -4.5, 0.5, 0.125, 0.2507, -1.501],
    ),
    (
        'Lasso',
        {'rate': 0.25},
        [3.25, -4.25, 0.5, 0.25, 0.5, -1.75],
        [3.25, -4.25, 0.5, 0.25, 0.5, -1.75],
    ),
    (
        'GradientClipping',
        {'threshold': 2},
        [1.1428572, -1.5238096, 0.1904762, 0.0, 0.0952381, -0.5714286],
        [1.143, -1.523, 0.1904, 0.0, 0.0952, -0.5713],
    ),
    (
        'GradientClipping',
        {'threshold': 100},
        [3.0, -4.0, 0.5, 0.0, 0.25, -1.5],
        [3.0, -4.0, 0.5, 0.0, 0.25, -1.5],
    ),
    (
        'GradientHardClipping',
        {'lower_bound': -1, 'upper_bound': 0.3},
        [0.3, -1.0, 0.3, 0.0, 0.25, -1.0],
        [0.3, -1.0, 0.3, 0.0, 0.25, -1.0],
    ),
    (
        'GradientLARS',
        {},
        [1.36795, -1.8239334, 0.22799167, 0.0, 0.25, -1.5],
        [1.368, -1.824, 0.228, 0.0, 0.25, -1.5],
    ),
    (
        'GradientLARS',
        {'weight_decay': 0.5},
        [1.2996355, -1.8566222, 0.18566222, 0.09283111, 0.2515, -1.502],
        [1.3, -1.856, 0.1857, 0.09283, 0.2515, -1.502],
    ),
    (
        'GradientNoise',
        {'eta': 0.5},
        [4.2473736, -3.717046, 1.1920723, 1.5845507, 1.570563, -2.1910398],
        [4.246, -3.717, 1.191, 1.585, 1.57, -2.191],
    ),
]


@pytest.mark.parametrize(('name', 'kwargs', 'single', 'half'), TABLE)
def test_gradients(name, kwargs, single, half, device):
    for dtype, expected in (('f', single), ('e', half)):
        link = link_of(dtype, device)
        optimizer = optimizers.SGD(1).setup(link)
        hook = getattr(hooks, name)(**kwargs)
        optimizer.add_hook(hook)
        assert hook.name == name
        assert hook.timing == 'pre'
        np.random.seed(0)
        old = values(link.a.grad).copy(), link.a.grad
        optimizer.call_hooks('pre')
        assert link.a.grad.dtype == np.dtype(dtype)
        assert link.device.is_array_supported(link.a.grad)
        np.testing.assert_allclose(gradients(link), expected, rtol=1e-6 if dtype == 'f' else 2e-3)
        # Other objects may share the old gradient.
        assert np.array_equal(old[0], values(old[1]))


@pytest.mark.parametrize(('name', 'kwargs', 'single', 'half'), TABLE)
def test_hook_of_a_rule(name, kwargs, single, half, device):
    hook = getattr(hooks, name)(**kwargs)
    if not getattr(hook, 'call_for_each_param', False):
        pytest.skip('is for optimizers only')
    link = link_of('f', device)
    optimizer = optimizers.SGD(1).setup(link)
    link.a.update_rule.add_hook(hook)
    np.random.seed(0)
    before = values(link.a.array).copy()
    optimizer.update()
    if name != 'GradientNoise':  # which counts the current step
        np.testing.assert_allclose(gradients(link)[:4], single[:4], rtol=1e-6)
    np.testing.assert_allclose(values(link.a.array), before - values(link.a.grad), rtol=1e-6)
    assert values(link.b.grad).tolist() == [0.25, -1.5]


@pytest.mark.parametrize(('name', 'kwargs', 'single', 'half'), TABLE)
def test_missing_gradients_and_empty_parameters(name, kwargs, single, half, device):
    link = link_of('f', device)
    with link.init_scope():
        link.c = chainer.Parameter(np.zeros((0, 2), 'f'))
        link.d = chainer.Parameter()
    optimizer = optimizers.SGD(1).setup(link)
    optimizer.add_hook(getattr(hooks, name)(**kwargs))
    link.cleargrads()
    optimizer.call_hooks('pre')
    assert link.c.grad.shape == (0, 2)
    assert link.d.grad is None
    link.d.update_rule = None
    optimizer.update()
    assert link.c.grad.shape == (0, 2)


def test_rate_may_change(device):
    link = link_of('f', device)
    optimizer = optimizers.SGD(1).setup(link)
    hook = hooks.WeightDecay(0.25)
    optimizer.add_hook(hook)
    hook.rate = np.float64(0.5)
    optimizer.call_hooks()
    assert values(link.a.grad).tolist() == [[3.5, -5], [0.5, 0.25]]
    assert link.a.grad.dtype == np.float32


def test_clipping_does_not_overflow(device):
    # Squares of numbers above 255 overflow float16.
    link = link_of('e', device)
    link.a.grad = link.device.send(np.array([[300, -400], [0, 0]], 'e'))
    link.b.grad = link.xp.zeros(2, 'e')
    optimizer = optimizers.SGD(1).setup(link)
    optimizer.add_hook(hooks.GradientClipping(5))
    optimizer.call_hooks()
    np.testing.assert_allclose(gradients(link), [3, -4, 0, 0, 0, 0], rtol=2e-3)


def test_clipping_of_special_gradients(device):
    for special, threshold, expected in ((0, 1, 0), (0, 0, 0), (np.nan, 1, np.nan), (2, 0, 0)):
        link = link_of('f', device)
        for param in link.params():
            param.grad = link.device.send(np.full(param.shape, special, 'f'))
        optimizer = optimizers.SGD(1).setup(link)
        optimizer.add_hook(hooks.GradientClipping(threshold))
        optimizer.call_hooks()
        np.testing.assert_array_equal(gradients(link), np.full(6, expected, 'f'))


def test_noise_falls_with_time(device):
    hook = hooks.GradientNoise(0.5)
    xp = chainer.get_device(device).xp

    def draw(t):
        np.random.seed(3)
        rule = optimizers.SGD().create_update_rule()
        rule.t = t
        return values(hook.noise_func(xp, (1000,), np.float32, hook, rule))

    np.testing.assert_allclose(draw(8) * (9**0.55) ** 0.5, draw(0), rtol=1e-5)
    assert abs(draw(0).std() - 0.5**0.5) < 0.03


def test_noise_of_the_user(device):
    seen = []

    def noise(xp, shape, dtype, hook, rule):
        seen.append((xp, shape, np.dtype(dtype).name, hook, rule))
        return xp.ones(shape, dtype)

    link = link_of('f', device)
    optimizer = optimizers.SGD(1).setup(link)
    hook = hooks.GradientNoise(0.5, noise)
    optimizer.add_hook(hook)
    before = gradients(link)
    optimizer.call_hooks()
    assert gradients(link).tolist() == (before + 1).tolist()
    assert seen[1] == (link.xp, (2,), 'float32', hook, link.b.update_rule)


@pytest.mark.parametrize(
    ('name', 'args', 'error', 'text'),
    [
        ('WeightDecay', ('a',), TypeError, 'WeightDecay: rate must be a real number'),
        ('WeightDecay', (float('nan'),), ValueError, 'WeightDecay: rate must be finite'),
        ('Lasso', (None,), TypeError, 'Lasso: rate must be a real number'),
        (
            'GradientClipping',
            (-1,),
            ValueError,
            r'GradientClipping: threshold must be in \[0, inf\]',
        ),
        ('GradientHardClipping', (2, 1), ValueError, 'lower_bound is 2, larger than upper_bound 1'),
        ('GradientHardClipping', (float('nan'), 1), ValueError, 'lower_bound must be a number'),
        ('GradientNoise', (-1,), ValueError, 'GradientNoise: eta must be in'),
        ('GradientLARS', (-1,), ValueError, 'GradientLARS: threshold must be in'),
    ],
)
def test_bad_arguments(name, args, error, text):
    with pytest.raises(error, match=text):
        getattr(hooks, name)(*args)


# ---- when hooks are called ----


class Recorder:
    """Records the name it was added under, and the gradients it sees."""

    def __init__(self, log, label, **attributes):
        self.log, self.label = log, label
        self.__dict__.update(attributes)

    def __call__(self, *args):
        self.log.append((self.label, args[0].t, *(param.name for param in args[1:])))


def test_order():
    log = []
    link = link_of('f', '@numpy')
    optimizer = optimizers.SGD(1).setup(link)
    optimizer.add_hook(Recorder(log, 'pre'), 'first')
    optimizer.add_hook(Recorder(log, 'post', timing='post'), 'second')
    optimizer.add_hook(Recorder(log, 'pre, by argument', timing='post'), 'third', timing='pre')
    optimizer.add_hook(Recorder(log, 'each', call_for_each_param=True), 'fourth')
    link.a.update_rule.add_hook(Recorder(log, 'rule'), 'pre')
    link.a.update_rule.add_hook(Recorder(log, 'rule, post', timing='post'), 'post')
    optimizer.update()
    assert log == [
        ('pre', 0),
        ('pre, by argument', 0),
        ('each', 0, 'a'),
        ('each', 0, 'b'),
        ('rule', 1, 'a'),
        ('rule, post', 1, 'a'),
        ('post', 1),
    ]
    optimizer.remove_hook('second')
    link.a.update_rule.remove_hook('pre')
    del log[:]
    optimizer.update()
    assert [entry[0] for entry in log] == [
        'pre', 'pre, by argument', 'each', 'each', 'rule, post',
    ]  # fmt: skip


def test_names_and_timings():
    optimizer = optimizers.SGD(1).setup(link_of('f', '@numpy'))
    for owner in (optimizer, optimizer.target.a.update_rule):
        log = []
        owner.add_hook(Recorder(log, 'x', name='mine'))
        with pytest.raises(KeyError, match='hook "mine" already exists'):
            owner.add_hook(Recorder(log, 'x'), 'mine', timing='post')
        owner.add_hook(lambda *args: None)
        owner.remove_hook('<lambda>')
        owner.remove_hook('mine')
        with pytest.raises(KeyError, match='mine'):
            owner.remove_hook('mine')
        with pytest.raises(TypeError, match='hook function must be callable'):
            owner.add_hook(3)
        with pytest.raises(ValueError, match='timing must be one of'):
            owner.add_hook(Recorder(log, 'x'), 'y', timing='sometimes')
        with pytest.warns(UserWarning, match="defaulting timing to 'pre'"):
            owner.add_hook(Recorder(log, 'x', timing='sometimes'), 'z')
        assert 'z' in owner._hookable._pre_update_hooks
    with pytest.raises(ValueError, match="timing must be either 'pre' or 'post'"):
        optimizer.call_hooks('auto')


def test_hooks_of_rules_see_the_fp32_copy(device):
    link = link_of('e', device)
    optimizer = optimizers.SGD(1)
    optimizer.use_fp32_update()
    optimizer.setup(link)
    dtypes = []
    link.a.update_rule.add_hook(lambda rule, param: dtypes.append(param.grad.dtype), 'look')
    optimizer.update()
    assert dtypes == [np.float32]


@pytest.mark.parametrize('scale', [8.0, 90.5])
def test_loss_scale_does_not_matter(scale, device):
    # Rates and thresholds refer to unscaled gradients.
    for name, kwargs, _, _ in TABLE:
        results = []
        for factor in (None, scale):
            link = link_of('f', device)
            optimizer = optimizers.SGD(1).setup(link)
            optimizer.add_hook(getattr(hooks, name)(**kwargs))
            if factor:
                for param in link.params():
                    param.grad = param.grad * factor
                    param.loss_scale = factor
            np.random.seed(0)
            optimizer.update()
            results.append(np.concatenate([values(p.array).ravel() for p in link.params()]))
        np.testing.assert_allclose(*results, rtol=1e-5)


@pytest.mark.parametrize('loss_scale', [None, 4.0])
@pytest.mark.parametrize(('name', 'kwargs', 'expected'), [
    ('WeightDecay', {'rate': 0.25}, 3.5),
    ('Lasso', {'rate': 0.25}, 3.25),
    ('GradientClipping', {'threshold': 2}, 2),
    ('GradientHardClipping', {'lower_bound': -1, 'upper_bound': 2}, 2),
    ('GradientLARS', {}, 2),
    ('GradientNoise', {'eta': 0, 'noise_func': lambda xp, shape, *_: xp.ones(shape, 'f')}, 4),
])  # fmt: skip
def test_parameters_without_dimensions(name, kwargs, expected, loss_scale, device):
    link = chainer.Link()
    with link.init_scope():
        link.a = chainer.Parameter(np.array(2, 'f'))
    link.to_device(device)
    optimizer = optimizers.SGD(1).setup(link)
    optimizer.add_hook(getattr(hooks, name)(**kwargs))
    link.a.cleargrad()
    (link.a * 3).backward(loss_scale=loss_scale)
    optimizer.update()
    np.testing.assert_allclose(values(link.a.grad), expected, rtol=1e-6)
    np.testing.assert_allclose(values(link.a.array), 2 - expected, rtol=1e-6)


def test_lars_of_small_gradients_in_float16(device):
    link = link_of('float16', device)
    small = np.array([[6e-8, -6e-8], [0, 0]], 'float16')
    for grad, expected in ((small, [1.6, -1.6, 0, 0]), (0 * small, [0, 0, 0, 0])):
        link.a.grad = chainer.get_device(device).send(grad)
        optimizer = optimizers.SGD(0).setup(link)
        optimizer.add_hook(hooks.GradientLARS())
        optimizer.update()
        np.testing.assert_allclose(values(link.a.grad).ravel(), expected, rtol=1e-2)
        assert link.a.grad.dtype == np.float16


def test_a_parameter_in_two_places_has_one_gradient(device):
    # Otherwise its norm would count twice, and it would be clipped twice.
    link = chainer.Chain()
    with link.init_scope():
        link.p = chainer.Parameter(np.zeros(2, 'f'))
        link.l = chainer.Link()
    with link.l.init_scope():
        link.l.p = link.p
    link.to_device(device)
    for threshold, expected in ((5, [3, 4]), (4.9, [3 * 0.98, 4 * 0.98]), (1, [0.6, 0.8])):
        link.p.grad = chainer.get_device(device).send(np.array([3, 4], 'f'))
        optimizer = optimizers.SGD(0).setup(link)
        optimizer.add_hook(hooks.GradientClipping(threshold))
        optimizer.update()
        np.testing.assert_allclose(values(link.p.grad), expected, rtol=1e-6)


@pytest.mark.parametrize(('threshold', 'expected'), [(5, 1.0), (np.nextafter(5, 0), 0.5)])
def test_lars_leaves_gradients_of_parameters_up_to_the_threshold(threshold, expected, device):
    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(np.array([3, 4], 'f'))
    link.to_device(device)
    link.p.grad = chainer.get_device(device).send(np.array([6, 8], 'f'))
    optimizer = optimizers.SGD(0).setup(link)
    optimizer.add_hook(hooks.GradientLARS(threshold=threshold, eps=0))
    optimizer.update()
    np.testing.assert_allclose(values(link.p.grad), np.array([6, 8]) * expected, rtol=1e-6)


@pytest.mark.parametrize('each', [False, True])
@pytest.mark.parametrize('timing', ['pre', 'post'])
def test_cleared_gradients_are_zeros_for_the_next_hook(each, timing, device):
    link = link_of('f', device)
    optimizer = optimizers.SGD(1).setup(link)

    def clear(*args):
        link.cleargrads()

    clear.call_for_each_param = each
    log = []
    optimizer.add_hook(clear, timing=timing)
    optimizer.add_hook(lambda _: log.append(gradients(link).tolist()), timing=timing)
    before = values(link.a.array).copy()
    optimizer.update()
    assert log == [[0] * 6]
    assert gradients(link).tolist() == [0] * 6
    if timing == 'pre':
        assert values(link.a.array).tolist() == before.tolist()
    link.cleargrads()
    optimizer.call_hook(lambda _: None)
    assert gradients(link).tolist() == [0] * 6


def test_momentum_continues_with_cleared_gradients(device):
    link = link_of('f', device)
    optimizer = optimizers.MomentumSGD(1, 0.5).setup(link)
    optimizer.update()
    before = values(link.b.array).copy()
    optimizer.add_hook(lambda _: link.cleargrads(), 'clear')
    optimizer.update()
    np.testing.assert_allclose(values(link.b.array), before - 0.5 * np.array([0.25, -1.5], 'f'))


def test_hooks_for_each_parameter_without_rules(device):
    class Mine(chainer.Optimizer):
        def update(self, lossfun=None, *args, **kwds):
            self.call_hooks('pre')

    class Method(chainer.GradientMethod):
        def setup(self, link):
            return chainer.Optimizer.setup(self, link)

    for cls in (Mine, Method):
        link = link_of('f', device)
        optimizer = cls().setup(link)
        seen = []

        def each(rule, param, seen=seen):
            seen.append((rule, param.name))

        each.call_for_each_param = True
        optimizer.add_hook(each)
        optimizer.add_hook(hooks.WeightDecay(0.25))
        optimizer.update()
        assert seen == [(None, 'a'), (None, 'b')]
        np.testing.assert_allclose(gradients(link), [3.25, -4.5, 0.5, 0.125, 0.25075, -1.501])


def test_hooks_without_a_name():
    class Nameless:
        def __call__(self, *args):
            pass

    class Unnamed(Nameless):
        name = None

    optimizer = optimizers.SGD(1).setup(link_of('f', '@numpy'))
    for owner in (optimizer, optimizer.target.a.update_rule):
        for hook in (Nameless(), Unnamed(), functools.partial(print)):
            with pytest.raises(ValueError, match=f'a {type(hook).__name__}, has no name'):
                owner.add_hook(hook)
        owner.add_hook(Nameless(), 'given')
        owner.add_hook(Nameless(), '')
        assert list(owner._hookable._pre_update_hooks) == ['given', '']
