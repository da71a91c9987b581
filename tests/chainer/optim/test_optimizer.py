"""`Optimizer`, `GradientMethod`, `UpdateRule`: the common behaviour of all optimizers."""

from __future__ import annotations

import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import optimizer as optimizer_module
from chainer import optimizers
from chainer.optimizer import GradientMethod, Hyperparameter, Optimizer, UpdateRule
from chainer.optimizer_hooks import GradientClipping, GradientHardClipping, Lasso, WeightDecay
from chainer.serializers import DictionarySerializer
from devices import DEVICES, ours
from optim.small_net import CountingRule, Net, ones, sgd, to_list


@pytest.fixture(params=DEVICES)
def device(request):
    with chainer.using_device(request.param):
        yield request.param


# ---- hyperparameters ----


def test_hyperparameter():
    parent = Hyperparameter()
    parent.a = 1
    child = Hyperparameter(parent)
    child.b = 2
    assert (child.a, child.parent, child.get_dict()) == (1, parent, {'a': 1, 'b': 2})
    assert repr(child) == 'Hyperparameter(a=1, b=2)'
    child.a = 5
    assert (child.a, parent.a) == (5, 1)
    with pytest.raises(AttributeError, match="no hyperparameter 'c'"):
        _ = child.c


def test_hyperparameter_proxy():
    class Mine(GradientMethod):
        rate = optimizer_module.HyperparameterProxy('rate')

    mine = Mine()
    mine.rate = 3
    assert mine.hyperparam.rate == mine.rate == 3
    assert Mine.rate.__doc__ == 'Alias to ``self.hyperparam.rate``'


# ---- set up ----


@pytest.mark.parametrize(
    'use',
    [
        lambda o: o.update(),
        lambda o: o.update(lambda: None),
        lambda o: o.add_hook(WeightDecay(0.1)),
        lambda o: o.remove_hook('WeightDecay'),
        lambda o: o.call_hooks(),
        lambda o: o.serialize(DictionarySerializer()),
        lambda o: o.reallocate_cleared_grads(),
    ],
)
def test_use_before_setup(use):
    with pytest.raises(
        RuntimeError, match=r'Optimizer is not set up. Call `setup` method. \(SGD\)'
    ):
        use(optimizers.SGD())


def test_setup():
    with pytest.raises(TypeError, match='optimization target must be a link, not int'):
        optimizers.SGD().setup(3)
    net = Net()
    optimizer = optimizers.SGD()
    assert optimizer.setup(net) is optimizer
    rules = [param.update_rule for param in net.params()]
    assert len({id(rule) for rule in rules}) == 4
    # A second setup starts from the beginning.
    optimizer.t, optimizer.epoch = 5, 2
    optimizer.add_hook(WeightDecay(0.1))
    optimizer.setup(net)
    assert (optimizer.t, optimizer.epoch) == (0, 0)
    optimizer.add_hook(WeightDecay(0.1))
    assert net.l.W.update_rule is not rules[0]


def test_abstract_methods():
    with pytest.raises(NotImplementedError, match=r'Optimizer\.update'):
        Optimizer().setup(chainer.Link()).update()
    with pytest.raises(NotImplementedError, match=r'GradientMethod\.create_update_rule'):
        GradientMethod().setup(Net())
    rule, param = UpdateRule(), chainer.Parameter(np.ones(2, 'f'))
    param.grad = np.ones(2, 'f')
    with pytest.raises(NotImplementedError, match=r'UpdateRule\.update_core_cpu'):
        rule.update(param)
    with pytest.raises(NotImplementedError, match=r'UpdateRule\.update_core_gpu'):
        rule.update_core_gpu(param)


def test_parameters_added_after_setup():
    net = Net()
    optimizer = sgd(net)
    with net.l.init_scope():
        net.l.W = chainer.Parameter(np.ones((1, 2), 'f'))
    with net.init_scope():
        net.z = chainer.Parameter(np.ones(2, 'f'))
    net.m.W.update_rule = None  # on purpose: no warning
    net.cleargrads()
    with pytest.warns(UserWarning, match='came into the link') as caught:
        optimizer.update(net.loss, ones(net))
    texts = [str(w.message) for w in caught]
    assert len(texts) == 2
    for path, text in zip(('/z', '/l/W'), texts, strict=True):
        assert f'SGD.update: parameter {path} came into the link after setup' in text
    assert to_list(net.l.W.array) == [[1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        optimizer.update(net.loss, ones(net))  # once is enough
        optimizer.setup(net)
        optimizer.update(net.loss, ones(net))
    assert to_list(net.l.W.array) == [[0, 0]]


def test_parameters_added_with_reused_ids():
    """A new parameter may get the id of one that was freed."""
    net = Net()
    optimizer = sgd(net)
    for _ in range(20):
        with net.l.init_scope():
            net.l.W = chainer.Parameter(np.ones((1, 2), 'f'))
        net.cleargrads()
        with pytest.warns(UserWarning, match='/l/W came into the link'):
            optimizer.update(net.loss, ones(net))


# ---- updates ----


def test_update_with_loss(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    net.l.W.grad = ones(net) * 100  # to be cleared
    optimizer.update(net.loss, x=ones(net))
    assert to_list(net.l.W.array) == [[0, 0]]
    assert to_list(net.l.b.array) == [-1]
    assert optimizer.t == net.l.W.update_rule.t == net.m.W.update_rule.t == 1
    assert not net.m.W.is_initialized
    # Without a loss, the existing gradients are used.
    optimizer.update()
    assert to_list(net.l.W.array) == [[-1, -1]]


def test_a_loss_without_a_way_back_is_refused(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    for returned in (lambda: None, lambda: 1.5, lambda: net.loss(x=ones(net)).array):
        net.l.W.grad = ones(net)
        with pytest.raises(TypeError, match=r'^SGD\.update: the loss is a \w+ that .*<lambda> ret'):
            optimizer.update(returned)
        assert optimizer.t == 0
        assert net.l.W.grad is not None
    silent = chainer.Sequential(lambda x: None)
    with pytest.raises(TypeError, match=r'the loss is a NoneType .*; Sequential returned it'):
        optimizer.update(silent, ones(net))
    with pytest.raises(
        TypeError, match=r'^SGD\.update: lossfun is a Variable, expected a function'
    ):
        optimizer.update(net.loss(ones(net)))


def test_parameters_are_no_learning_rate():
    with pytest.raises(TypeError, match=r'^SGD: lr must be .*; setup\(link\) gives an optimizer'):
        chainer.optimizers.SGD(Net().params())


def test_gradients_accumulate(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    net.cleargrads()
    for _ in range(3):
        net.loss(ones(net)).backward()
    optimizer.update()
    assert to_list(net.l.W.array) == [[-2, -2]]


def test_zerograds():
    net = Net()
    optimizer = sgd(net)
    with pytest.warns(DeprecationWarning, match='use_cleargrads is deprecated'):
        optimizer.use_cleargrads(False)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        optimizer.update(lambda: F.sum(net.l.W))
    assert to_list(net.l.b.grad) == [0]
    assert to_list(net.l.W.array) == [[0, 0]]


def test_uninitialized_parameter():
    net = Net()
    optimizer = sgd(net)
    net.l.cleargrads()
    with pytest.raises(RuntimeError, match=r'SGD\.update: parameter /m/W is uninitialized'):
        optimizer.update()
    assert optimizer.t == net.l.W.update_rule.t == 0
    net.m.W.update_rule.enabled = False
    optimizer.update()
    net.m.W.update_rule = None
    optimizer.update()


def test_rules_of_the_user_see_uninitialized_parameters():
    log = []

    class Rule(UpdateRule):
        def update_core_cpu(self, param):
            if param.array is None:
                log.append(param.name)

    net = Net()
    optimizer = sgd(net)
    for param in net.params():
        param.update_rule = Rule()
    optimizer.update()
    assert log == ['W']
    # Our rules must know whether there is a gradient.
    net.m.W.update_rule = optimizer.create_update_rule()
    with pytest.raises(RuntimeError, match='uninitialized'):
        net.m.W.update()


def test_read_only_parameter():
    net = Net()
    net.m.disable_update()
    optimizer = optimizers.MomentumSGD(1).setup(net)
    net.m.disable_update()
    for _ in range(3):  # the first creates states, the second a plan
        before = [to_list(param.array) for param in net.l.params()]
        net.l.W.array.flags.writeable = False
        with pytest.raises(ValueError, match=r'MomentumSGD\.update: parameter /l/W is read-only'):
            optimizer.update(net.loss, ones(net))
        assert [to_list(param.array) for param in net.l.params()] == before
        net.l.W.array.flags.writeable = True
        t = optimizer.t
        optimizer.update()
        assert optimizer.t == t + 1 == net.l.W.update_rule.t
    net.l.W.array.flags.writeable = False
    net.l.W.update_rule.enabled = False
    optimizer.update(net.loss, ones(net))


def test_rule_updates_variables(device):
    xp = chainer.get_device(device).xp
    for dtype in ('f', 'e'):
        rule = optimizers.MomentumSGD(0.5).create_update_rule()
        rule.use_fp32_update()
        v = chainer.Variable(xp.ones(3, dtype))
        for _ in range(2):
            v.grad = xp.ones(3, dtype)
            rule.update(v)
        np.testing.assert_allclose(to_list(v.array), [-0.45] * 3, rtol=1e-2)
        assert rule.t == 2


def test_states_that_were_not_completed_are_made_again():
    class Rule(UpdateRule):
        stop = True

        def init_state(self, param):
            self.state['a'] = np.zeros_like(param.array)
            if self.stop:
                raise KeyboardInterrupt
            self.state['b'] = np.ones_like(param.array)

        def update_core_cpu(self, param):
            self.state['a'] += self.state['b']

    rule, param = Rule(), chainer.Parameter(np.ones(2, 'f'))
    with pytest.raises(KeyboardInterrupt):
        rule.update(param)
    assert rule.state is None
    rule.stop = False
    rule.update(param)
    assert to_list(rule.state['a']) == [1, 1]


@pytest.mark.parametrize('error', [KeyboardInterrupt, ValueError])
def test_after_a_step_that_broke_off_all_rules_count_alike(error):
    net = Net()
    net.m(np.ones((1, 3), 'f'))
    optimizer = optimizers.Adam().setup(net)

    def stop(rule, param):
        raise error

    rules = [param.update_rule for param in net.params()]
    for t in (1, 2):
        for rule in rules[1:3]:
            rule.add_hook(stop, 'stop')
        with pytest.raises(error):
            optimizer.update(net.loss, ones(net))
        assert [rule.t for rule in rules] == [t] * 4
        for rule in rules[1:3]:
            rule.remove_hook('stop')
    optimizer.update(net.loss, ones(net))  # creates the missing states
    chainer.fallback_report(reset=True)
    optimizer.update(net.loss, ones(net))
    assert chainer.fallback_report() == []
    assert optimizer._plan is not None


def test_reallocate_cleared_grads(device):
    net = Net().to_device(device)
    optimizer = optimizers.MomentumSGD(lr=1, momentum=0.5).setup(net)
    optimizer.update(net.loss, ones(net))
    net.cleargrads()
    optimizer.update()
    # Momentum continues without a gradient.
    assert to_list(net.l.W.array) == [[-0.5, -0.5]]
    assert to_list(net.l.W.grad) == [[0, 0]]
    assert net.l.W.grad.dtype == np.float32
    assert net.device.is_array_supported(net.l.W.grad)


def test_shared_link_makes_one_step(device):
    net = chainer.Chain(a=L.Linear(2, 1, initialW=1))
    net.add_link('b', net.a)
    net.to_device(device)
    optimizer = sgd(net)
    optimizer.add_hook(WeightDecay(1))
    optimizer.update(lambda: F.sum(net.a(ones(net))))
    assert net.a.W.update_rule.t == 1
    assert to_list(net.a.W.array) == [[-1, -1]]


@pytest.mark.parametrize(
    ('hook', 'step'),
    [
        (None, 4.0),
        (Lasso(1), 5.0),
        (WeightDecay(1), 5.0),
        (GradientHardClipping(0, 3), 3.0),
        (GradientClipping(2), 1.0),
    ],
)
@pytest.mark.parametrize('scale', [None, 8.0])
def test_shared_gradient_is_changed_once(device, hook, step, scale):
    # Two parameters of two elements each, sharing one gradient array, which the user keeps.
    net = chainer.Link()
    with net.init_scope():
        net.a, net.b = (chainer.Parameter(np.ones(2, 'f')) for _ in 'ab')
    net.to_device(device)
    optimizer = sgd(net)
    if hook:
        optimizer.add_hook(hook)
    kept = net.device.send(np.full(2, 4 * (scale or 1), 'f'))
    for param in net.params():
        param.grad = kept
        param.loss_scale = scale
    optimizer.update()
    assert to_list(net.a.array) == to_list(net.b.array) == [1 - step] * 2
    assert to_list(kept) == [4 * (scale or 1)] * 2


def test_gradients_of_leaf_shared_by_engine(device):
    net = chainer.Link()
    with net.init_scope():
        net.a, net.b = (chainer.Parameter(np.ones(2, 'f')) for _ in 'ab')
    net.to_device(device)
    optimizer = sgd(net)
    optimizer.set_loss_scale(16.0)
    optimizer.update(lambda: F.sum(net.a + net.b))
    assert to_list(net.a.array) == to_list(net.b.array) == [0, 0]


def test_disable_update(device):
    net = Net().to_device(device)
    optimizer = sgd(net)
    net.l.disable_update()
    optimizer.update(net.loss, ones(net))
    assert (optimizer.t, net.l.W.update_rule.t) == (1, 0)
    assert to_list(net.l.W.array) == [[1, 1]]
    net.l.enable_update()
    optimizer.update(net.loss, ones(net))
    assert to_list(net.l.W.array) == [[0, 0]]


def test_array_identity_is_kept(device):
    net = Net().to_device(device)
    optimizer = optimizers.Adam().setup(net)
    array = net.l.W.array
    optimizer.update(net.loss, ones(net))
    assert net.l.W.array is array


def test_updates_are_no_part_of_a_graph(device):
    net = Net().to_device(device)
    optimizer = optimizers.Adam().setup(net)
    optimizer.add_hook(WeightDecay(0.1))
    optimizer.update(net.loss, ones(net))
    if device == 'native:0':
        arrays = [net.l.W.array, net.l.W.grad, *net.l.W.update_rule.state.values()]
        assert not any(array.is_backprop_required(chainerx.anygraph) for array in arrays)
    assert net.l.W.creator is None
    assert net.l.W.requires_grad


def test_new_epoch():
    optimizer = sgd(Net())
    optimizer.new_epoch()
    with pytest.raises(RuntimeError, match='invalid new_epoch call with auto=True'):
        optimizer.new_epoch(auto=True)
    optimizer.use_auto_new_epoch = True
    with pytest.raises(RuntimeError, match='duplicated new_epoch with the updater'):
        optimizer.new_epoch()
    optimizer.new_epoch(auto=True)
    assert optimizer.epoch == 2


# ---- rules of the user ----


def test_rule_of_the_user(device):
    net = Net().to_device(device)
    param = net.l.W
    param.update_rule = CountingRule()
    chainer.fallback_report(reset=True)
    for _ in range(2):
        param.grad = ones(net)
        param.update()
    assert to_list(param.array) == [[6, 6]]
    state = param.update_rule.state
    assert net.device.is_array_supported(state['v'])
    assert to_list(state['v']) == [[4, 4]]
    assert state['n'] == 2
    report = chainer.fallback_report(reset=True)
    if device != 'native:0':
        assert not report
    else:
        assert report[0][0] == 'CountingRule'
        assert report[0][3] == 2
        with (
            chainer.using_config('chainerx_fallback', 'error'),
            pytest.raises(RuntimeError, match='CountingRule: no chainerx implementation'),
        ):
            param.update()


def test_rule_that_replaces_the_array(device):
    class Rule(UpdateRule):
        def update_core_cpu(self, param):
            param.array = param.array * 2

        update_core_gpu = update_core_cpu

    net = Net().to_device(device)
    net.l.W.update_rule = Rule()
    net.l.W.grad = ones(net)
    net.l.W.update()
    assert to_list(net.l.W.array) == [[2, 2]]


def test_rule_with_an_update_core_for_all(device):
    class Rule(UpdateRule):
        def update_core(self, param):
            param.array[...] = 5

    net = Net().to_device(device)
    net.l.W.update_rule = Rule()
    net.l.W.grad = ones(net)
    net.l.W.update()
    assert to_list(net.l.W.array) == [[5, 5]]


def test_rule_overriding_part_of_a_built_in_one(device):
    class Rule(optimizers.adam.AdamRule):
        def update_core_cpu(self, param):
            param.array[...] = 5

        update_core_gpu = update_core_cpu

    net = Net().to_device(device)
    net.l.W.update_rule = Rule()
    net.l.W.grad = ones(net)
    net.l.W.update()
    assert to_list(net.l.W.array) == [[5, 5]]


def test_optimizer_of_the_user(device):
    class Mine(GradientMethod):
        def create_update_rule(self):
            return CountingRule(self.hyperparam)

    net = Net().to_device(device)
    optimizer = Mine().setup(net)
    optimizer.update(net.loss, ones(net))
    assert to_list(net.l.W.array) == [[3, 3]]


def test_state_of_rule():
    rule = UpdateRule()
    assert rule.state is None
    rule.update_core = lambda param: None
    rule.update(chainer.Parameter(np.ones(2, 'f')))
    assert rule.state == {}


def test_states_beside_those_of_the_formula(device):
    class Rule(optimizers.adam.AdamRule):
        def init_state(self, param):
            super().init_state(param)
            self.state['norm'] = param.xp.zeros((), 'f')
            self.state['name'] = 'x'

    net = Net().to_device(device)
    net.l.W.update_rule = Rule()
    for _ in range(2):
        net.l.W.grad = ones(net)
        net.l.W.update()
    assert list(net.l.W.update_rule.state) == ['m', 'v', 'norm', 'name']


# ---- training ----


@pytest.mark.parametrize('name', ['SGD', 'MomentumSGD', 'Adam', 'AMSBound', 'RMSprop', 'SMORMS3'])
def test_training_on_both_kinds_of_arrays(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 4)).astype('f')
    t = (x[:, :2] * x[:, 2:]).sum(1, keepdims=True).astype('f')
    results = []
    for device in ('@numpy', ours()):
        np.random.seed(1)
        net = chainer.Sequential(L.Linear(4, 16), F.tanh, L.Linear(None, 1)).to_device(device)
        optimizer = getattr(optimizers, name)().setup(net)
        optimizer.add_hook(WeightDecay(1e-4))
        optimizer.add_hook(GradientClipping(5.0))

        def loss(net=net, device=device):
            device = chainer.get_device(device)
            return F.mean_squared_error(net(device.send(x)), device.send(t))

        first = float(loss().array)
        for _ in range(30):
            optimizer.update(loss)
        assert float(loss().array) < first
        results.append([chainer.get_device('@numpy').send(p.array) for p in net.params()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


# ---- old names ----


@pytest.mark.parametrize(
    ('name', 'args'),
    [
        ('WeightDecay', (0.1,)),
        ('Lasso', (0.1,)),
        ('GradientClipping', (1,)),
        ('GradientHardClipping', (-1, 1)),
        ('GradientNoise', (0.1,)),
    ],
)
def test_deprecated_hooks(name, args):
    with pytest.warns(DeprecationWarning, match=optimizer_module.make_deprecation_message(name)):
        hook = getattr(optimizer_module, name)(*args)
    assert isinstance(hook, getattr(chainer.optimizer_hooks, name))
