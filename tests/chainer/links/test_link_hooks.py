"""Link hooks: order, arguments, errors; TimerHook, SpectralNormalization, WeightStandardization."""

from __future__ import annotations

import copy
import io
import pickle
import threading

import chainer
import numpy as np
import pytest
from chainer import Chain, Link, LinkHook, Sequential
from chainer import functions as F
from chainer import links as L
from chainer.link_hooks import SpectralNormalization, TimerHook, WeightStandardization
from chainer.link_hooks import spectral_normalization as sn
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


def to_numpy(x):
    return chainer.backend.CpuDevice().send(x)


class Recorder(LinkHook):
    """Records its arguments in a list, which several hooks may share."""

    def __init__(self, log, name='Recorder'):
        self.log, self.name = log, name

    def added(self, link):
        self.log.append((self.name, 'added', link))

    def deleted(self, link):
        self.log.append((self.name, 'deleted', link))

    def forward_preprocess(self, args):
        self.log.append((self.name, 'pre', args.link))

    def forward_postprocess(self, args):
        self.log.append((self.name, 'post', args.link))

    def _forward_aborted(self, link):
        self.log.append((self.name, 'aborted', link))


class Add(Link):
    def forward(self, x, k=1):
        return x + k


class Parent(Chain):
    def __init__(self):
        super().__init__(child=Add())

    def forward(self, x):
        return self.child(x, k=2)


# -- the base class


def test_entered_hook_sees_all_links():
    log: list = []
    net = Parent()
    with Recorder(log) as hook:
        assert type(hook) is Recorder
        assert net(1) == 3
    assert net(1) == 3
    assert [(event, link) for _, event, link in log] == [
        ('added', None),
        ('pre', net),
        ('pre', net.child),
        ('post', net.child),
        ('post', net),
        ('deleted', None),
    ]


def test_order_of_hooks():
    log: list = []
    link = Add().add_hook(Recorder(log, '3')).add_hook(Recorder(log, '4'))
    with Recorder(log, '1'), Recorder(log, '2'):
        del log[:]
        link(1)
        assert [(name, event) for name, event, _ in log] == [
            (name, event) for event in ('pre', 'post') for name in '1234'
        ]
        del log[:]
    assert [(name, event) for name, event, _ in log] == [('2', 'deleted'), ('1', 'deleted')]


def test_arguments_of_hooks():
    seen: list = []

    class Hook(LinkHook):
        def forward_preprocess(self, args):
            seen.append(dict(vars(args)))
            text = repr(args)
            assert text.startswith('<chainer.link_hook._ForwardPreprocessCallbackArgs link=Add()')
            assert text.endswith("forward_name=forward args=(1,) kwargs={'k': 5}>")
            args.args = (100,)  # belongs to the hook
            args.kwargs['k'] = 7  # is passed to forward

        def forward_postprocess(self, args):
            seen.append(dict(vars(args)))
            args.out = 'other'

    link = Add().add_hook(Hook())
    assert link(1, k=5) == 8
    kwargs = {'k': 7}
    assert seen == [
        {'link': link, 'forward_name': 'forward', 'args': (1,), 'kwargs': kwargs},
        {'link': link, 'forward_name': 'forward', 'args': (1,), 'kwargs': kwargs, 'out': 8},
    ]


def test_names_are_unique():
    link = Add().add_hook(Recorder([]))
    with pytest.raises(KeyError, match='Hook Recorder already exists'):
        link.add_hook(Recorder([]))
    link.add_hook(Recorder([]), name='second')
    assert list(link.local_link_hooks) == ['Recorder', 'second']
    with Recorder([]), pytest.raises(KeyError, match='hook Recorder already exists'):
        Recorder([]).__enter__()


def test_own_hook_replaces_an_entered_one_of_its_name():
    own: list = []
    entered: list = []
    link = Add().add_hook(Recorder(own))
    with Recorder(entered):
        link(1)
    assert [event for _, event, _ in own] == ['added', 'pre', 'post']
    assert [event for _, event, _ in entered] == ['added', 'deleted']


def test_delete_hook():
    log: list = []
    link = Add().add_hook(Recorder(log))
    link.delete_hook('Recorder')
    link(1)
    assert log == [('Recorder', 'added', link), ('Recorder', 'deleted', link)]
    with pytest.raises(KeyError, match='Hook Recorder does not exist'):
        link.delete_hook('Recorder')
    with pytest.raises(KeyError, match='Hook Recorder does not exist'):
        Link().delete_hook('Recorder')


@pytest.mark.parametrize('hook', [3, chainer.FunctionHook(), Recorder])
def test_hooks_must_be_link_hooks(hook):
    with pytest.raises(TypeError, match='must be of type LinkHook'):
        Link().add_hook(hook)


def test_leaving_a_hook_that_was_not_entered():
    with pytest.raises(KeyError, match='Recorder'):
        Recorder([]).__exit__(None, None, None)


def test_hooks_of_other_threads_are_not_called():
    log: list = []
    with Recorder(log):
        thread = threading.Thread(target=Add(), args=(1,))
        thread.start()
        thread.join()
    assert [event for _, event, _ in log] == ['added', 'deleted']


def test_hooks_learn_of_errors():
    class Fail(Link):
        def forward(self):
            raise ValueError('bad')

    class Refuse(LinkHook):
        name = 'Refuse'

        def forward_preprocess(self, args):
            raise ValueError('refused')

    log: list = []
    link = Fail().add_hook(Recorder(log, '1')).add_hook(Recorder(log, '2'))
    del log[:]
    with pytest.raises(ValueError, match='bad'):
        link()
    assert [(name, event) for name, event, _ in log] == [
        ('1', 'pre'), ('2', 'pre'), ('2', 'aborted'), ('1', 'aborted'),
    ]  # fmt: skip
    link = Add().add_hook(Recorder(log, '1')).add_hook(Refuse()).add_hook(Recorder(log, '2'))
    del log[:]
    with pytest.raises(ValueError, match='refused'):
        link(1)
    assert [(name, event) for name, event, _ in log] == [('1', 'pre'), ('1', 'aborted')]
    with pytest.raises(ValueError, match='bad'), Recorder(log):
        Fail()()
    del log[:]
    Add()(1)
    assert log == []


# -- TimerHook


class Net(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 3)
            self.l2 = Sequential(L.Linear(3, 3), F.relu)

    def forward(self, x):
        return self.l2(self.l1(x))


def test_timer(device):
    net = Net().to_device(device)
    hook = TimerHook()
    with hook:
        for _ in range(2):
            net(device.send(np.zeros((2, 3), 'f')))
    assert [name for name, _ in hook.call_history] == ['Linear', 'Linear', 'Sequential', 'Net'] * 2
    assert all(elapsed > 0 for _, elapsed in hook.call_history)
    total = sum(elapsed for name, elapsed in hook.call_history if name == 'Net')
    assert hook.total_time() == pytest.approx(total)
    summary = hook.summary()
    assert [(name, row['occurrence']) for name, row in summary.items()] == [
        ('Linear', 4), ('Sequential', 2), ('Net', 2),
    ]  # fmt: skip
    assert summary['Net']['elapsed_time'] == pytest.approx(total)


def report(hook, **kwargs):
    file = io.StringIO()
    hook.print_report(file=file, **kwargs)
    return file.getvalue()


def test_report_of_timer(capsys):
    hook = TimerHook()
    hook.call_history = [('Linear', 0.25e-3), ('Sequential', 0.5e-3), ('Linear', 0.25e-6)]
    assert report(hook) == (
        '  LinkName  ElapsedTime  Occurrence\n'
        '    Linear     250.25us           2\n'
        'Sequential     500.00us           1\n'
    )
    assert '0.25ms' in report(hook, unit='ms')
    assert '0.00sec' in report(hook, unit='sec')
    assert report(TimerHook()) == 'LinkName  ElapsedTime  Occurrence\n'
    with pytest.raises(KeyError, match='unit is'):
        hook.print_report(unit='min')
    hook.print_report()
    assert capsys.readouterr().out == report(hook)


@pytest.mark.parametrize(
    ('second', 'unit'),
    [(3, 'sec'), (1, 'sec'), (0.5, 'ms'), (1e-3, 'ms'), (1e-5, 'us'), (1e-8, 'ns'), (1e-12, 'ns')],
)
def test_units_of_timer(second, unit):
    assert TimerHook()._choose_unit(second)[1] == unit


def test_timer_after_an_error():
    class Fail(Link):
        def forward(self, x):
            raise ValueError('bad')

    hook = TimerHook()
    with pytest.raises(ValueError, match='bad'), hook:
        Sequential(Fail())(1)
    assert hook.call_history == []
    with hook:
        Add()(1)
    assert hook.total_time() == hook.call_history[0][1]


# -- SpectralNormalization


def largest(w):
    return np.linalg.svd(w)[1][0]


def used_weight(link):
    """The weight that a Linear uses, seen through its output."""
    x = link.device.send(np.eye(link.W.shape[1], dtype=link.W.dtype))
    return to_numpy(link(x).array).T


def step(w, u, eps):
    v = w.T @ u
    v /= np.linalg.norm(v) + eps
    u = w @ v
    return u / (np.linalg.norm(u) + eps), v


@pytest.mark.parametrize('shape', [(4, 3), (3, 4)])
@pytest.mark.parametrize('eps', [1e-6, 0.5])
def test_spectral_normalization(device, shape, eps):
    link = L.Linear(*shape).to_device(device)
    w = to_numpy(link.W.array).copy()
    hook = SpectralNormalization(eps=eps)
    np.random.seed(5)
    link.add_hook(hook)
    np.random.seed(5)
    u = np.random.normal(size=shape[1]).astype('f')
    np.testing.assert_array_equal(to_numpy(link.W_u), u)
    param = link.W
    actual = used_weight(link)
    u, v = step(w, u, eps)
    np.testing.assert_allclose(actual, w / (u @ w @ v), rtol=1e-4)
    np.testing.assert_allclose(to_numpy(link.W_u), u, rtol=1e-4)
    assert link.W is param
    np.testing.assert_array_equal(to_numpy(link.W.array), w)

    with chainer.using_config('train', False):
        u_eval, v_eval = step(w, u, eps)
        np.testing.assert_allclose(used_weight(link), w / (u_eval @ w @ v_eval), rtol=1e-4)
    np.testing.assert_allclose(to_numpy(link.W_u), u, rtol=1e-4)

    with chainer.using_config('in_recomputing', True):
        np.testing.assert_allclose(used_weight(link), actual, rtol=1e-4)
    np.testing.assert_allclose(to_numpy(link.W_u), u, rtol=1e-4)


@pytest.mark.parametrize('n', [1, 3])
@pytest.mark.parametrize('factor', [None, 2.5])
def test_spectral_norm_is_reached(device, n, factor):
    np.random.seed(0)
    link = L.Linear(4, 3).to_device(device)
    link.add_hook(SpectralNormalization(n_power_iteration=n, factor=factor))
    for _ in range(60):
        used = used_weight(link)
    assert largest(used) == pytest.approx(factor or 1, rel=1e-3)


@pytest.mark.parametrize(
    ('make', 'axis'),
    [
        (lambda: L.Convolution2D(3, 4, 2, nobias=True), 0),
        (lambda: L.Convolution2D(None, 4, (2, 1), nobias=True), 0),
        (lambda: L.Deconvolution2D(3, 4, 2, nobias=True), 1),
        (lambda: L.ConvolutionND(1, 3, 4, 2, nobias=True), 0),
    ],
)
def test_spectral_normalization_of_convolutions(device, make, axis):
    """The weight of a convolution is a matrix with one row per output channel."""
    np.random.seed(0)
    link = make().to_device(device)
    x = device.send(np.random.standard_normal((2, 3, 5, 6)).astype('f'))
    x = x[:, :, 0] if type(link) is L.ConvolutionND else x
    link.add_hook(SpectralNormalization(n_power_iteration=50))
    y = to_numpy(link(x).array)
    w = to_numpy(link.W.array)
    sigma = largest(np.moveaxis(w, axis, 0).reshape(w.shape[axis], -1))
    link.delete_hook('SpectralNormalization')
    np.testing.assert_allclose(y, to_numpy(link(x).array) / sigma, rtol=1e-3, atol=1e-5)


def test_spectral_normalization_with_gamma(device):
    np.random.seed(0)
    link = L.Linear(4, 3).to_device(device)
    w = to_numpy(link.W.array)
    link.add_hook(SpectralNormalization(n_power_iteration=50, use_gamma=True))
    assert [name for name, _ in link.namedparams()] == ['/W', '/b', '/gamma']
    assert link.gamma.shape == ()
    assert link.gamma.device == device
    assert float(link.gamma.array) == pytest.approx(largest(w), rel=1e-4)
    np.testing.assert_allclose(used_weight(link), w, rtol=1e-3)
    link.cleargrads()
    F.sum(link(device.send(np.ones((2, 4), 'f')))).backward()
    assert link.W.grad.shape == (3, 4)
    assert link.gamma.grad.shape == ()
    assert float(link.gamma.grad) != 0
    link.delete_hook('SpectralNormalization')
    assert [name for name, _ in link.namedparams()] == ['/W', '/b']
    assert not hasattr(link, 'W_u')


def test_gradient_through_spectral_normalization():
    link = L.Linear(4, 3)
    link.add_hook(SpectralNormalization())
    with chainer.using_config('train', False):
        link.cleargrads()
        F.sum(link(np.ones((1, 4), 'f')) ** 2).backward()
        w, u = link.W.array.astype('d'), link.W_u.astype('d')
        u, v = step(w, u, 1e-6)
        y = w.sum(1) / (u @ w @ v)
        # d/dW of sum(y^2), where u and v count as constants.
        sigma = u @ w @ v
        expected = 2 * np.outer(y, np.ones(4)) / sigma - 2 * (y @ y) / sigma * np.outer(u, v)
    np.testing.assert_allclose(link.W.grad, expected, rtol=1e-3, atol=1e-5)


def test_spectral_normalization_of_uninitialized():
    link = L.Linear(3)
    link.add_hook(SpectralNormalization(use_gamma=True))
    assert not hasattr(link, 'W_u')
    y = link(np.zeros((2, 2, 2), 'f'))
    assert y.shape == (2, 3)
    assert link.W.shape == (3, 4)
    assert link.W_u.shape == (3,)
    link = L.Linear(3).add_hook(SpectralNormalization())
    assert link(np.zeros((2, 5, 4), 'f'), n_batch_axes=2).shape == (2, 5, 3)
    link = L.Linear(3).add_hook(SpectralNormalization())
    link.delete_hook('SpectralNormalization')


@pytest.mark.parametrize('use_gamma', [False, True])
def test_spectral_normalization_needs_an_output(use_gamma):
    match = r'SpectralNormalization: W has shape \(0, 10\): Expect W.shape\[0\] > 0'
    link = L.Linear(10, 0)
    with pytest.raises(ValueError, match=match):
        link.add_hook(SpectralNormalization(use_gamma=use_gamma))
    link = L.Linear(None, 0).add_hook(SpectralNormalization(use_gamma=use_gamma))
    with pytest.raises(ValueError, match=match):
        link(np.ones((2, 10), 'f'))
    assert type(link.W) is chainer.Parameter


def test_spectral_normalization_in_half_precision():
    with chainer.using_config('dtype', np.float16):
        link = L.Linear(4, 3).add_hook(SpectralNormalization(use_gamma=True))
        assert link.W_u.dtype == link.gamma.dtype == np.float16
        assert link(np.ones((2, 4), np.float16)).dtype == np.float16


def test_spectral_normalization_of_one_axis_order():
    class Deconvolution2D(Link):  # the memory layout of the real link's weight
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.W = chainer.Parameter(np.random.randn(2, 3, 4, 4).astype('f'))

        def forward(self, x):
            return self.W

    link = Deconvolution2D()
    hook = SpectralNormalization(n_power_iteration=100)
    link.add_hook(hook)
    assert link.W_u.shape == (3,)
    assert hook.axis == 1
    assert hook.reshape_W(link.W).shape == (3, 32)
    used = link(0).array
    assert largest(np.moveaxis(used, 1, 0).reshape(3, 32)) == pytest.approx(1, rel=1e-3)


def test_spectral_normalization_is_saved():
    data: dict = {}

    class Saver(chainer.Serializer):
        def __call__(self, key, value):
            data[key] = value
            return value

    link = L.Linear(4, 3).add_hook(SpectralNormalization(use_gamma=True))
    link.serialize(Saver())
    assert sorted(data) == ['W', 'W_u', 'b', 'gamma']


def test_one_hook_for_two_links():
    hook = SpectralNormalization(n_power_iteration=50)
    a, b = L.Linear(4, 3).add_hook(hook), L.Linear(3, 2).add_hook(hook)
    w = b.W.array
    assert largest(used_weight(a)) == pytest.approx(1, rel=1e-2)
    assert largest(used_weight(b)) == pytest.approx(1, rel=1e-2)
    assert b.W.array is w


def test_helpers_of_spectral_normalization():
    w = np.array([[1, 2], [3, 4]], 'f')
    u, v = np.array([1, 0], 'f'), np.array([0.6, 0.8], 'f')
    np.testing.assert_allclose(
        sn.l2normalize(np, np.array([3, 4], 'f'), 5.0), [0.3, 0.4], rtol=1e-6
    )
    new_u, new_v = sn.update_approximate_vectors(chainer.Variable(w), u, 1, 1e-6)
    np.testing.assert_allclose(new_v, np.array([1, 2]) / np.sqrt(5), rtol=1e-5)
    np.testing.assert_allclose(new_u, np.array([5, 11]) / np.sqrt(146), rtol=1e-5)
    np.testing.assert_allclose(sn.calculate_max_singular_value(w, u, v).array, 2.2, rtol=1e-6)


def test_wrong_numbers_of_iterations():
    with pytest.raises(AssertionError, match='n_power_iteration is 0'):
        SpectralNormalization(n_power_iteration=0)


# -- WeightStandardization


def standardized(w, eps=1e-5):
    axes = tuple(range(1, w.ndim))
    mean = w.mean(axes, keepdims=True)
    return (w - mean) / np.sqrt(w.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize('eps', [1e-5, 0.5])
def test_weight_standardization(device, eps):
    link = L.Linear(4, 3).to_device(device)
    w, param = to_numpy(link.W.array).copy(), link.W
    link.add_hook(WeightStandardization(eps=eps))
    np.testing.assert_allclose(used_weight(link), standardized(w, eps), rtol=1e-3, atol=1e-5)
    assert link.W is param
    np.testing.assert_array_equal(to_numpy(link.W.array), w)
    link.cleargrads()
    x = np.arange(4, dtype='f')[None]
    F.sum(link(device.send(x))).backward()
    # Standardization removes the mean of a row, so its gradient is 0.
    np.testing.assert_allclose(to_numpy(link.W.grad).sum(1), 0, atol=1e-4)
    assert np.abs(to_numpy(link.W.grad)).max() > 1e-2


def test_weight_standardization_of_uninitialized():
    link = L.Linear(3).add_hook(WeightStandardization())
    assert link(np.zeros((2, 4), 'f')).shape == (2, 3)
    assert link.W.shape == (3, 4)


def test_weight_standardization_of_a_vector():
    link = L.Linear(4, 3).add_hook(WeightStandardization(weight_name='b'))
    with pytest.raises(ValueError, match=r'b.ndim is 1, expected at least 2'):
        link(np.zeros((2, 4), 'f'))
    assert isinstance(link.b, chainer.Parameter)


# -- both


HOOKS = [SpectralNormalization, WeightStandardization]


@pytest.mark.parametrize('make', HOOKS)
def test_weight_hooks_are_not_entered(make):
    with pytest.raises(NotImplementedError, match='not supposed to be used as context manager'):
        make().__enter__()
    with pytest.raises(NotImplementedError):
        make().__exit__()


@pytest.mark.parametrize('make', HOOKS)
def test_weight_hooks_need_their_weight(make):
    link = L.Bias(1, (3,))
    with pytest.raises(ValueError, match="Weight 'W' does not exist!"):
        link.add_hook(make())
    assert link.local_link_hooks == {}


@pytest.mark.parametrize('make', HOOKS)
def test_names_of_weight_hooks(make):
    assert make().name == make.__name__
    assert make(name='other').name == 'other'


@pytest.mark.parametrize('make', HOOKS)
def test_weight_comes_back_after_an_error(make):
    link = L.Linear(4, 3).add_hook(make())
    param = link.W
    with pytest.raises(chainer.utils.type_check.InvalidType):
        link(np.zeros((2, 5), 'f'))
    assert link.W is param
    assert list(link.params()) == [link.W, link.b]
    link(np.zeros((2, 4), 'f'))


@pytest.mark.parametrize('make', HOOKS)
def test_a_link_with_a_weight_hook_may_call_itself(make):
    class Twice(L.Linear):
        def forward(self, x, again=True):
            return self(super().forward(x), False) if again else super().forward(x)

    link = Twice(3, 3).add_hook(make())
    param = link.W
    link(np.zeros((2, 3), 'f'))
    assert link.W is param


@pytest.mark.parametrize('make', HOOKS)
def test_weight_hooks_are_copied(make):
    net = Chain(l=L.Linear(4, 3).add_hook(make()))
    x = np.ones((1, 4), 'f')
    with chainer.using_config('train', False):
        y = net.l(x).array
        for other in (net.copy(), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            np.testing.assert_array_equal(other.l(x).array, y)


@pytest.mark.parametrize('make', HOOKS)
def test_parameters_during_a_forward(make):
    class Look(L.Linear):
        def forward(self, x):
            self.seen = list(self.params())
            return super().forward(x)

    link = Look(4, 3).add_hook(make())
    link(np.zeros((2, 4), 'f'))
    weight, bias = link.seen
    assert bias is link.b
    assert not isinstance(weight, chainer.Parameter)  # the values that the hook has computed
